/**
 * The contents of a printed document in its reader's language. It has only texts, so that it can be sent to the drawing
 * thread and compared in tests without a page. Invoices, credit notes and receipts differ only in their model.
 */
export interface DocumentModel {
  /** BCP 47, for the file's own description. */
  language: string;
  title: string;
  number: string;
  /** Data URI of a PNG or JPEG. */
  logo: string | null;
  paper: 'A4' | 'LETTER';
  facts: readonly Fact[];
  parties: readonly Party[];
  headline: Headline | null;
  columns: readonly Column[];
  tables: readonly DocumentTable[];
  totals: readonly Total[];
  notes: readonly Note[];
  /** With `{page}` and `{pages}`. */
  pageLabel: string;
}

/** What is due or paid, in large letters. */
export interface Headline {
  text: string;
  note: string;
  /** Where it is paid; also as a code for the camera of a phone. */
  link?: { text: string; url: string };
}

export interface Fact {
  label: string;
  value: string;
}

/** The issuer or the payer; the first line is the name. */
export interface Party {
  label: string;
  lines: readonly string[];
}

export interface Column {
  label: string;
  /** Whether it holds figures, which are right-aligned and never wrap. */
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
