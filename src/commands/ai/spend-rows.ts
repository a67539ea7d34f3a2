import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type CsvError, parse } from 'csv-parse';

/** Columns whose texts are numbers, in files that have only texts. */
const NUMBERS: ReadonlySet<string> = new Set(['prompt_tokens', 'completion_tokens', 'total_tokens', 'spend']);
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i;
/** Columns that hold JSON. */
const STRUCTURED: ReadonlySet<string> = new Set(['metadata', 'request_tags']);
/** Columns of content, which the service would read past. */
const CONTENT: ReadonlySet<string> = new Set(['messages', 'response', 'proxy_server_request']);
/** Longest row: one that holds its prompt. */
const ROW_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Rows of a spend log as lines of JSON, without their content: of CSV with a header, or of an object a line. A line
 * that is none stays as it is, for the service to say so; a blank one is no row.
 */
export async function* spendRows(file: string, form: 'csv' | 'ndjson'): AsyncGenerator<string> {
  if (form === 'csv') yield* csvRows(file);
  else
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
      if (line.trim() !== '') yield contentless(line);
}

async function* csvRows(file: string): AsyncGenerator<string> {
  const options = { columns: true, bom: true, skip_empty_lines: true, max_record_size: ROW_MAX_BYTES } as const;
  const rows = createReadStream(file).pipe(parse(options));
  try {
    for await (const columns of rows) yield csvLine(columns as Record<string, string>);
  } catch (error) {
    throw new Error(`${file} is no CSV: ${(error as CsvError).message}`, { cause: error });
  }
}

/** A line without content is sent as it is, with its numbers as they were written. */
function contentless(line: string): string {
  if (![...CONTENT].some((name) => line.includes(`"${name}"`))) return line;
  const row = objectOf(line);
  return row === undefined
    ? line
    : JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => !CONTENT.has(name))));
}

/** Undefined for what is no object. */
export function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** An empty column is absent, numbers are written as they stand, and columns with JSON are that. */
function csvLine(columns: Record<string, string>): string {
  const members = Object.entries(columns)
    .filter(([name, text]) => text !== '' && !CONTENT.has(name))
    .map(([name, text]) => `${JSON.stringify(name)}:${valueText(name, text)}`);
  return `{${members.join(',')}}`;
}

function valueText(name: string, text: string): string {
  if (NUMBERS.has(name) && NUMBER.test(text)) return text;
  if (STRUCTURED.has(name) && isJson(text)) return text.replace(/[\r\n]+/g, ' ');
  return JSON.stringify(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
