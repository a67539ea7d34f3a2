import type { Content, ContentColumns, TableCell, TDocumentDefinitions } from 'pdfmake/interfaces.js';
import type { DocumentFonts } from './fonts.ts';
import type { Column, DocumentModel, DocumentTable, Note, Party, Row, Total } from './model.ts';
import { runsOf } from './runs.ts';

const PAGE_MARGIN = 42;
const PAPER_WIDTHS: Record<DocumentModel['paper'], number> = { A4: 595.28, LETTER: 612 };
const TEXT_SIZE = 8.5;
const SMALL_SIZE = 7.5;
const INK = '#1c2430';
const MUTED = '#5c6675';
const ACCENT = '#2456c9';
const RULE = '#d5dae2';
const SHADE = '#f3f5f8';
const LOGO_BOX: [number, number] = [150, 56];
/** Width of a character of figures in points, a little above the widest digit of the font. */
const FIGURE_WIDTH = 5.1;
const [PADDING_LEFT, PADDING_RIGHT] = [5, 4];
const PARTY_GAP = 20;
const FIGURE_COLUMN_MIN = 46;
/** Smallest width of the first column; wider figures wrap instead. */
const FIRST_COLUMN_MIN = 150;
const INDENTS: Record<Row['kind'], number> = { heading: 0, line: 0, part: 10, detail: 20 };
/** How many totals stay on one page together, a little over half of it; there may be more payments and coupons. */
const MOST_TOTALS_TOGETHER = 25;
/** How many characters of a text stay on one page together, about half a page in the narrowest first column. */
const MOST_CHARACTERS_TOGETHER = 1000;
/** How many totals, and rows of the last amount with its details, stay on one page together. */
const MOST_ROWS_AT_END = 20;
/** Largest side of the code that leads to where it is paid: of up to 150 letters each module has two points. */
const CODE_SIZE = 92;
/** How many rows of a figure column are measured for its width; more would cost more than they help. */
const ROWS_MEASURED = 5000;

/** The description of a document, and how its pages fell once it is drawn. */
export interface PageLayout {
  definition: TDocumentDefinitions;
  /** Whether the last row stands on another page than the one before it, together with the totals. */
  isEndApart(): boolean;
}

/**
 * The page description of a document: one table for each group of lines with its head repeated on every page, totals
 * kept together, and with the last amount, so that no page begins with totals alone; page numbers at the foot.
 *
 * hasHeadAtEnd  whether the last row has a head of its own, since it begins a page
 */
export function layoutOf(model: DocumentModel, fonts: DocumentFonts, { hasHeadAtEnd = false } = {}): PageLayout {
  const text = (value: string) => runsOf(value, fonts);
  const widths = widthsOf(model);
  const tables = model.tables.filter(({ rows }) => rows.length > 0);
  const end = endOf(tables, model.totals);
  const whole = end === undefined ? tables : tables.slice(0, -1);
  const pages = new Map<string, number[]>();
  const definition: TDocumentDefinitions = {
    info: { title: `${model.title} ${model.number}`, creator: 'Meterstone', producer: 'Meterstone' },
    language: model.language,
    pageSize: model.paper,
    pageMargins: [PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, 54],
    defaultStyle: { font: 'main', fontSize: TEXT_SIZE, color: INK, lineHeight: 1.05 },
    footer: (page: number, pages: number): Content => ({
      margin: [PAGE_MARGIN, 18, PAGE_MARGIN, 0],
      fontSize: SMALL_SIZE,
      color: MUTED,
      columns: [
        { text: text(`${model.title} ${model.number}`) },
        {
          text: text(model.pageLabel.replace('{page}', `${page}`).replace('{pages}', `${pages}`)),
          alignment: 'right',
          width: 'auto',
        },
      ],
    }),
    content: withoutLastMargin([
      ...headOf(model, text),
      ...whole.map((table) => tableOf(table, { columns: model.columns, widths, text })),
      ...(end === undefined
        ? [totalsOf(model.totals, text)]
        : endWithTotals(end, model, { columns: model.columns, widths, text, hasHeadAtEnd })),
      ...model.notes.map((note) => noteOf(note, text)),
    ]),
    ...(end === undefined ? {} : { pageBreakBefore: noting(pages) }),
  };
  return {
    definition,
    isEndApart: () => {
      const [before, at] = [pages.get(BEFORE_END)?.at(-1), pages.get(AT_END)?.[0]];
      return before !== undefined && at !== undefined && before !== at;
    },
  };
}

/** Notes on which pages named blocks stand; nothing is moved by it. */
const noting =
  (pages: Map<string, number[]>): TDocumentDefinitions['pageBreakBefore'] =>
  ({ id, pageNumbers }) => {
    if (id) pages.set(id, pageNumbers);
    return false;
  };

/** White space below the totals. */
const TOTALS_MARGIN: [number, number, number, number] = [0, 0, 0, 18];

const BEFORE_END = 'before the end';
const AT_END = 'at the end';

/** The last table in two parts: up to its last amount, and that amount with its details. */
interface End {
  table: DocumentTable;
  from: number;
}

/** Undefined where the last amount with the totals would be too high to stay together. */
function endOf(tables: readonly DocumentTable[], totals: readonly Total[]): End | undefined {
  const table = tables.at(-1);
  if (table === undefined) return undefined;
  const from = table.rows.findLastIndex(startsBlock);
  const rows = table.rows.slice(from);
  const characters = rows.reduce((sum, { cells, note = '' }) => sum + cells.join('').length + note.length, 0);
  const isLow = rows.length + totals.length <= MOST_ROWS_AT_END && characters <= MOST_CHARACTERS_TOGETHER;
  return from > 0 && isLow ? { table, from } : undefined;
}

function endWithTotals(
  { table: { title, rows }, from }: End,
  { totals }: DocumentModel,
  { hasHeadAtEnd, ...look }: TableLook & { hasHeadAtEnd: boolean },
): Block[] {
  const before = tableOf({ title, rows: rows.slice(0, from) }, { ...look, lastId: BEFORE_END });
  const last = tableOf({ title: null, rows: rows.slice(from) }, { ...look, lastId: AT_END, hasHead: hasHeadAtEnd });
  return [
    { ...before, margin: 0 } as Block,
    { unbreakable: true, stack: [last, { ...totalsOf(totals, look.text), margin: 0 }], margin: TOTALS_MARGIN } as Block,
  ];
}

/** A margin that does not fit below the last block would begin a page with nothing but the footer. */
const withoutLastMargin = (blocks: readonly Block[]): Content[] =>
  blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, margin: 0 } : block));

type Text = (value: string) => Content;
/** Blocks below one another on a page, each with its margin. */
type Block = Content & object;
type PageColumn = ContentColumns['columns'][number];

function headOf({ title, number, logo, paper, facts, parties, headline }: DocumentModel, text: Text): Block[] {
  const named: PageColumn = {
    width: '*',
    stack: [
      { text: text(title), fontSize: 22, bold: true, lineHeight: 0.95 },
      { text: text(number), fontSize: 11, color: MUTED },
    ],
  };
  const partyWidth = (roomOf(paper) - (parties.length - 1) * PARTY_GAP) / parties.length;
  const image: PageColumn[] =
    logo === null ? [] : [{ width: 'auto', stack: [{ image: logo, fit: LOGO_BOX, alignment: 'right' }] }];
  return [
    { columns: [named, ...image], columnGap: 16, margin: [0, 0, 0, 18] },
    {
      table: {
        widths: ['auto', '*'],
        body: facts.map(({ label, value }): TableCell[] => [
          { text: text(label), color: MUTED, noWrap: true },
          { text: text(value), bold: true },
        ]),
      },
      layout: { defaultBorder: false, ...padding(0, 1.2), paddingRight: (index: number) => (index === 0 ? 14 : 0) },
      margin: [0, 0, 0, 16],
    },
    { columns: parties.map((party) => partyOf(party, partyWidth, text)), columnGap: PARTY_GAP, margin: [0, 0, 0, 20] },
    ...(headline === null
      ? []
      : [
          {
            columns: [
              {
                width: '*',
                stack: [
                  { text: text(headline.text), fontSize: 15, bold: true },
                  { text: text(headline.note), color: MUTED },
                  ...(headline.link === undefined ? [] : [linkOf(headline.link, text)]),
                ],
              },
              ...(headline.link === undefined ? [] : [codeOf(headline.link.url)]),
            ],
            columnGap: 16,
            margin: [0, 0, 0, 16],
          } satisfies Block,
        ]),
  ];
}

/** An address as a code for cameras. */
const codeOf = (url: string): PageColumn => ({
  width: 'auto',
  qr: url,
  fit: CODE_SIZE,
  eccLevel: 'L',
  foreground: INK,
});

/** A text that opens an address; a text of several fonts in each of its parts. */
function linkOf({ text: words, url }: { text: string; url: string }, text: Text): Content {
  const look = { link: url, color: ACCENT, decoration: 'underline' } as const;
  const runs = text(words);
  return {
    text: Array.isArray(runs) ? runs.map((run) => ({ ...(run as object), ...look })) : runs,
    ...look,
  } as Content;
}

const partyOf = ({ label, lines }: Party, width: number, text: Text): PageColumn => ({
  width,
  stack: [
    { text: text(label), fontSize: SMALL_SIZE, color: MUTED, margin: [0, 0, 0, 3] },
    ...lines.map((line, index): Content => ({ text: text(line), bold: index === 0 })),
  ],
});

interface TableLook {
  columns: readonly Column[];
  widths: number[];
  text: Text;
  /** Names its last row. */
  lastId?: string;
  /** Whether its columns are labelled. */
  hasHead?: boolean;
}

function tableOf({ title, rows }: DocumentTable, look: TableLook): Block {
  const { columns, widths, text, lastId, hasHead = true } = look;
  const heading = (words: string): TableCell => ({
    text: text(words),
    bold: true,
    fontSize: 10,
    colSpan: columns.length,
    margin: [0, 0, 0, 3],
  });
  const labels = columns.map(
    ({ label, isFigure }): TableCell => ({
      text: text(label),
      alignment: isFigure ? 'right' : 'left',
      fontSize: SMALL_SIZE,
      color: MUTED,
      fillColor: SHADE,
    }),
  );
  const head = [...(title === null ? [] : [spanned(heading(title), columns)]), ...(hasHead ? [labels] : [])];
  const last = rows.length - 1;
  const body = [...head, ...rows.map((row, index) => rowOf(row, columns, text, index === last ? lastId : undefined))];
  // A block that is kept together and higher than a page would be dropped.
  const isWhole = rows.every(({ cells, note = '' }) =>
    [...cells, note].every((words) => words.length <= MOST_CHARACTERS_TOGETHER),
  );
  const rowAt = (index: number): Row | undefined => rows[index - head.length];
  return {
    table: {
      headerRows: head.length,
      keepWithHeaderRows: isWhole && head.length > 0 ? 1 : 0,
      dontBreakRows: isWhole,
      widths,
      body,
    },
    layout: {
      // A detail belongs to the line above it, so there is no rule between them.
      hLineWidth: (index: number) =>
        index > head.length && (index === body.length || startsBlock(rowAt(index))) ? 0.5 : 0,
      hLineColor: RULE,
      vLineWidth: () => 0,
      paddingLeft: () => PADDING_LEFT,
      paddingRight: () => PADDING_RIGHT,
      paddingTop: (index: number) => (rowAt(index)?.kind === 'detail' ? 0 : 3.5),
      paddingBottom: (index: number) => (rowAt(index + 1)?.kind === 'detail' ? 1 : 3.5),
    },
    margin: [0, 0, 0, 14],
  };
}

const startsBlock = (row: Row | undefined): boolean => row !== undefined && row.kind !== 'detail';

function rowOf(row: Row, columns: readonly Column[], text: Text, id: string | undefined): TableCell[] {
  const first: TableCell & object = {
    stack: [
      { text: text(row.cells[0] ?? ''), bold: row.kind === 'heading', ...(id === undefined ? {} : { id }) },
      ...(row.note === undefined ? [] : [{ text: text(row.note), color: MUTED, fontSize: SMALL_SIZE }]),
    ],
    margin: [INDENTS[row.kind], 0, 0, 0],
  };
  const look = row.kind === 'detail' ? { color: MUTED, fontSize: SMALL_SIZE } : {};
  if (row.kind === 'heading') return spanned({ ...first, colSpan: columns.length }, columns);
  return [
    { ...first, ...look },
    ...columns.slice(1).map(
      ({ isFigure }, index): TableCell => ({
        text: text(row.cells[index + 1] ?? ''),
        alignment: isFigure ? 'right' : 'left',
        ...look,
      }),
    ),
  ];
}

const spanned = (cell: TableCell, columns: readonly Column[]): TableCell[] => [
  cell,
  ...columns.slice(1).map((): TableCell => ({})),
];

/** Between the margins. */
const roomOf = (paper: DocumentModel['paper']): number => PAPER_WIDTHS[paper] - 2 * PAGE_MARGIN;

/** Figure columns are as wide as their longest text, equal in all tables; the first column takes the rest. */
function widthsOf({ columns, tables, paper }: DocumentModel): number[] {
  const rows = tables.flatMap((table) => table.rows).slice(0, ROWS_MEASURED);
  const figures = columns.slice(1).map(({ label }, index) => {
    const longest = rows.reduce((most, row) => Math.max(most, row.cells[index + 1]?.length ?? 0), 0);
    return Math.max(FIGURE_COLUMN_MIN, longest * FIGURE_WIDTH, label.length * FIGURE_WIDTH);
  });
  const paddings = columns.length * (PADDING_LEFT + PADDING_RIGHT);
  const wanted = figures.reduce((total, width) => total + width, 0);
  const room = roomOf(paper) - paddings - FIRST_COLUMN_MIN;
  const shrink = Math.min(1, room / wanted);
  const fitting = figures.map((width) => width * shrink);
  return [roomOf(paper) - paddings - fitting.reduce((total, width) => total + width, 0), ...fitting];
}

const totalsOf = (totals: readonly Total[], text: Text): Block => ({
  // Kept together only if it is not higher than a page, because a higher block would be dropped.
  unbreakable: totals.length <= MOST_TOTALS_TOGETHER,
  columns: [
    { width: '*', text: '' },
    {
      width: 300,
      table: {
        widths: ['*', 'auto'],
        body: totals.map(({ label, value, kind }): TableCell[] => {
          const look = kind === 'plain' ? {} : { bold: true };
          const size = kind === 'grand' ? { fontSize: 11 } : {};
          return [
            { text: text(label), ...look, ...size },
            { text: text(value), alignment: 'right', noWrap: true, ...look, ...size },
          ];
        }),
      },
      layout: {
        hLineWidth: (index: number) =>
          totals[index]?.kind === 'grand' ? 1 : index > 0 && index < totals.length ? 0.5 : 0,
        hLineColor: (index: number) => (totals[index]?.kind === 'grand' ? INK : RULE),
        vLineWidth: () => 0,
        ...padding(4, 3.5),
      },
    },
  ],
  margin: TOTALS_MARGIN,
});

const noteOf = ({ title, text: words }: Note, text: Text): Block => ({
  stack: [
    ...(title === null
      ? []
      : [{ text: text(title), bold: true, margin: [0, 0, 0, 2] as [number, number, number, number] }]),
    { text: text(words), color: MUTED, preserveLeadingSpaces: true },
  ],
  margin: [0, 0, 0, 10],
});

const padding = (horizontal: number, vertical: number) => ({
  paddingLeft: () => horizontal,
  paddingRight: () => horizontal,
  paddingTop: () => vertical,
  paddingBottom: () => vertical,
});
