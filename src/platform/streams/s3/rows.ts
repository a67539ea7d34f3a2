import { CsvError, parse } from 'csv-parse';
import { BadObject, PIECE_MAX_BYTES, type Piece, type Place } from './piece.ts';

const FIELDS = ['transaction_id', 'external_subscription_id', 'code', 'timestamp', 'precise_total_amount_cents'];
const PROPERTY = 'properties.';
const MOST_COLUMNS = 1000;
/**
 * How many bytes may come without the end of a row: those of its fields, each of them a quote that is doubled, and what
 * separates them. The parser counts the fields' own bytes alone, so that a row of nothing but commas has none.
 */
const ROW_MAX_BYTES = 3 * PIECE_MAX_BYTES;
/** All of them in any file, so that a file that is read on in its middle is told apart as from its begin. */
const ROW_ENDS = ['\r\n', '\n', '\r'];

interface Row {
  record: string[];
  info: { bytes: number };
}

/**
 * The rows of a file in CSV, each as an event in JSON; its first row names the columns. Empty fields are left out, and
 * properties are texts, whose digits all stay.
 *
 * @throws BadObject when the header is wrong, or a quote has no end
 * Rule: streams.md#formats-of-files.
 */
export async function* rowsOf(chunks: AsyncIterable<Uint8Array>, from: Place): AsyncGenerator<Piece> {
  let { columns } = from;
  let { line } = from;
  for await (const { record, info } of recordsIn(chunks)) {
    const offset = from.offset + info.bytes;
    if (columns === undefined) {
      columns = headerOf(record.map((name) => name.trim()));
      continue;
    }
    if (record.length === 1 && record[0] === '') continue;
    line += 1;
    const next = { offset, line, columns };
    if (record.length === columns.length) yield { bytes: eventOf(columns, record), next };
    else {
      const refused = `the row has ${record.length} fields, not ${columns.length}`;
      yield { bytes: Buffer.from(JSON.stringify(record)), refused, next };
    }
  }
}

/** The records of the parser, also those before a fault, which drops what it keeps for who reads it as a stream. */
async function* recordsIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  const parser = parse({
    info: true,
    relax_column_count: true,
    max_record_size: PIECE_MAX_BYTES,
    record_delimiter: ROW_ENDS,
  });
  let found: Row[] = [];
  parser.push = (row: Row | null) => {
    if (row) found.push(row);
    return true;
  };
  parser.on('error', () => {}); // met where it is given something
  const fault = (work: (done: (error?: Error | null) => void) => void) =>
    new Promise<Error | null | undefined>((resolve) => work(resolve));
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      const error = await fault((done) => parser.write(chunk, done));
      bytes = found.length > 0 ? 0 : bytes + chunk.length;
      yield* found;
      found = [];
      if (error) throw badObjectOf(error);
      if (bytes > ROW_MAX_BYTES)
        throw new BadObject('payload_too_large', `a row has at most ${PIECE_MAX_BYTES} bytes`, { isFinal: true });
    }
    const error = await fault((done) => parser.end(done));
    yield* found;
    if (error) throw badObjectOf(error);
  } finally {
    parser.destroy();
  }
}

/** Without its message, which shows what stands in the file. */
function badObjectOf(error: Error): Error {
  if (!(error instanceof CsvError)) return error;
  const isTooLarge = error.code === 'CSV_MAX_RECORD_SIZE';
  return new BadObject(
    isTooLarge ? 'payload_too_large' : 'unsupported_format',
    `its rows cannot be told apart: ${error.code}`,
    { isFinal: isTooLarge },
  );
}

function headerOf(columns: string[]): string[] {
  const unknown = columns.filter((name) => !FIELDS.includes(name) && !(name.startsWith(PROPERTY) && name !== PROPERTY));
  const isTwice = new Set(columns).size < columns.length;
  if (columns.length > MOST_COLUMNS || unknown.length > 0 || isTwice || !columns.includes('transaction_id'))
    throw new BadObject('unsupported_format', 'the first row does not name the columns of events', { isFinal: true });
  return columns;
}

function eventOf(columns: readonly string[], record: readonly string[]): Buffer {
  const event: Record<string, unknown> = Object.create(null);
  const properties: Record<string, string> = Object.create(null);
  for (const [index, name] of columns.entries()) {
    const value = record[index]!;
    if (value === '') continue;
    if (name.startsWith(PROPERTY)) properties[name.slice(PROPERTY.length)] = value;
    else event[name] = value;
  }
  return Buffer.from(JSON.stringify({ ...event, properties }));
}
