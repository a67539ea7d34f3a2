import { type Column, type ParquetRow, readParquetFile, writeParquetFile } from '../../../platform/parquet-file.ts';
import type { ArchivedEvent } from './archived-event.ts';

const DECIMALS = 15;
const DIGITS = 38;
const LEAST_TOO_LARGE = 10n ** BigInt(DIGITS);
const AMOUNT = 'precise_total_amount_cents';

/**
 * The columns of an archive. Times are microseconds in UTC, amounts exact decimals, `properties` and `former_versions`
 * JSON with the digits of the stored text. An amount of more digits than a decimal holds is a text in a column of its
 * own. Rule: retention.md#archive.
 */
const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' }, ...required() },
  text('external_subscription_id', true),
  text('transaction_id', true),
  text('code', true),
  time('timestamp', true),
  document('properties', true),
  {
    name: AMOUNT,
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    precision: DIGITS,
    scale: DECIMALS,
    repetition_type: 'OPTIONAL',
  },
  text('precise_total_amount_cents_text', false),
  text('digest', true),
  text('user_agent', false),
  text('remote_address', false),
  { name: 'version', type: 'INT32', ...required() },
  time('deleted_at', false),
  time('created_at', true),
  document('former_versions', false),
];

function required() {
  return { repetition_type: 'REQUIRED' } as const;
}

function text(name: string, isRequired: boolean): Column {
  return {
    name,
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL',
  };
}

function time(name: string, isRequired: boolean): Column {
  return {
    name,
    type: 'INT64',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL',
  };
}

/** JSON as its text, which the converted type would parse and print again with other digits. */
function document(name: string, isRequired: boolean): Column {
  return {
    name,
    type: 'BYTE_ARRAY',
    logical_type: { type: 'JSON' },
    repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL',
  };
}

export interface ParquetArchive {
  /** Writes one group of rows. */
  write(events: readonly ArchivedEvent[]): Promise<void>;
  finish(): Promise<void>;
}

/** Writes a file of events, with notes about it. */
export function writeParquet(file: string, about: Record<string, string>): ParquetArchive {
  const { write, finish } = writeParquetFile(file, COLUMNS, about);
  return {
    write: (events) =>
      write(
        COLUMNS.map(({ name }) => ({ name, data: events.map((event) => stored(event, name)) })),
        events.length,
      ),
    finish,
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A value as the writer takes it: numbers would pass through a double and lose digits. */
function stored(event: ArchivedEvent, name: string): unknown {
  const amount = event.precise_total_amount_cents;
  const unscaled = amount === null ? null : BigInt(amount.replace('.', ''));
  const fits = unscaled !== null && unscaled < LEAST_TOO_LARGE && unscaled > -LEAST_TOO_LARGE;
  switch (name) {
    case AMOUNT:
      return fits ? unscaled : null;
    case 'precise_total_amount_cents_text':
      return fits ? null : amount;
    case 'timestamp':
    case 'created_at':
      return BigInt(event[name]);
    case 'deleted_at':
      return event.deleted_at === null ? null : BigInt(event.deleted_at);
    case 'properties':
      return encoder.encode(event.properties);
    case 'former_versions':
      return event.former_versions === null ? null : encoder.encode(event.former_versions);
    default:
      return event[name as keyof ArchivedEvent];
  }
}

/** The events of a file, in the groups in which they were written. */
export async function* readParquet(file: string): AsyncGenerator<ArchivedEvent[]> {
  for await (const rows of readParquetFile(file, [AMOUNT])) yield rows.map(eventOf);
}

const eventOf = (row: ParquetRow): ArchivedEvent => ({
  id: String(row.id),
  external_subscription_id: String(row.external_subscription_id),
  transaction_id: String(row.transaction_id),
  code: String(row.code),
  timestamp: String(row.timestamp),
  properties: jsonText(row.properties)!,
  precise_total_amount_cents: amountOf(row),
  digest: String(row.digest),
  user_agent: textOf(row.user_agent),
  remote_address: textOf(row.remote_address),
  version: Number(row.version),
  deleted_at: textOf(row.deleted_at),
  created_at: String(row.created_at),
  former_versions: jsonText(row.former_versions),
});

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

const jsonText = (value: unknown): string | null =>
  value === null || value === undefined ? null : decoder.decode(value as Uint8Array);

function amountOf(row: ParquetRow): string | null {
  const bytes = row[AMOUNT] as Uint8Array | null | undefined;
  if (bytes === null || bytes === undefined) return textOf(row.precise_total_amount_cents_text);
  const unscaled = BigInt.asIntN(128, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(DECIMALS + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}
