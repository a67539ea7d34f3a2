/**
 * What a printed document says, in its reader's words already: texts only, so that it travels to the thread that draws
 * it and a test compares it without looking at a page. Invoices, credit notes and receipts differ in their model alone.
 */
export interface DocumentModel {
  /** BCP 47, for the file's own description. */
  language: string;
  title: string;
  number: string;
  /** Data URI of a PNG or JPEG. */
  logo: string | null;
  facts: readonly Fact[];
  parties: readonly Party[];
  headline: { text: string; note: string } | null;
  columns: readonly Column[];
  tables: readonly DocumentTable[];
  totals: readonly Total[];
  notes: readonly Note[];
  /** With `{page}` and `{pages}`. */
  pageLabel: string;
}

export interface Fact {
  label: string;
  value: string;
}

/** Who issues or pays: the first line is its name. */
export interface Party {
  label: string;
  lines: readonly string[];
}

export interface Column {
  label: string;
  /** Figures stand at the right and never wrap. */
  isFigure: boolean;
}

/** A table whose title and column labels are repeated on each page that it reaches. */
export interface DocumentTable {
  title: string | null;
  rows: readonly Row[];
}

export interface Row {
  /** heading: names the parts below it; line, part: an amount; detail: how the amount above it came about. */
  kind: 'heading' | 'line' | 'part' | 'detail';
  /** A second, smaller text below the first cell. */
  note?: string;
  /** One text a column; a heading has only the first. */
  cells: readonly string[];
}

export interface Total {
  label: string;
  value: string;
  kind: 'plain' | 'sum' | 'grand';
}

export interface Note {
  title: string | null;
  text: string;
}
