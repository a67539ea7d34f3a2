import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';

export type Column = SchemaElement;

/** A value of a column by its place in a group of rows. */
export interface ColumnValues {
  name: string;
  data: unknown[];
}

export interface ParquetFile {
  /** Writes one group of rows. */
  write(columns: readonly ColumnValues[], rows: number): Promise<void>;
  finish(): Promise<void>;
}

/**
 * Writes a Parquet file group by group, so that it is never in memory as a whole.
 *
 * about  notes about the file, by key
 */
export function writeParquetFile(file: string, columns: readonly Column[], about: Record<string, string>): ParquetFile {
  const writer = new ParquetWriter({
    writer: fileWriter(file),
    schema: [{ name: 'root', num_children: columns.length }, ...columns],
    createdBy: 'meterstone',
    kvMetadata: Object.entries(about).map(([key, value]) => ({ key: `meterstone.${key}`, value })),
  });
  return {
    write: async (values, rows) => writer.write({ columnData: [...values], rowGroupSize: rows }),
    finish: async () => writer.finish(),
  };
}

/** A row of a file: times are microseconds as bigint, texts and documents as they are, `exact` columns bytes. */
export type ParquetRow = Record<string, unknown>;

/**
 * The rows of a file, in the groups in which they were written.
 *
 * exact  decimals that are read as the 16 bytes that were written: the reader makes doubles of them
 */
export async function* readParquetFile(file: string, exact: readonly string[]): AsyncGenerator<ParquetRow[]> {
  const buffer = await asyncBufferFromFile(file);
  const metadata = await parquetMetadataAsync(buffer);
  for (const element of metadata.schema)
    if (exact.includes(element.name)) {
      delete element.converted_type;
      delete element.logical_type;
    }
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    yield await parquetReadObjects({
      file: buffer,
      metadata,
      rowStart,
      rowEnd,
      utf8: false,
      parsers: { timestampFromMicroseconds: (micros: bigint) => micros as unknown as Date },
    });
    rowStart = rowEnd;
  }
}
