import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { BadObject, PIECE_MAX_BYTES, type Piece, type Place } from './piece.ts';

const FIELDS = ['transaction_id', 'external_subscription_id', 'code', 'timestamp', 'precise_total_amount_cents'];
const PROPERTY = 'properties.';
const MOST_COLUMNS = 1000;

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
  const parser = parse({ info: true, relax_column_count: true, max_record_size: PIECE_MAX_BYTES });
  const source = Readable.from(chunks, { objectMode: false });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
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
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Its message shows what stands in the file.
    const tooLarge = error.code === 'CSV_MAX_RECORD_SIZE';
    throw new BadObject(
      tooLarge ? 'payload_too_large' : 'unsupported_format',
      `its rows cannot be told apart: ${error.code}`,
    );
  } finally {
    source.destroy();
    parser.destroy();
  }
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
