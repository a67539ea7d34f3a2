import type { S3Settings } from './settings.ts';

/** How an object is read. */
export interface ObjectFormat {
  content: 'ndjson' | 'json' | 'csv';
  packing: 'none' | 'gzip' | 'zstd';
}

const PACKINGS = { gz: 'gzip', zst: 'zstd' } as const;
const CONTENTS = { ndjson: 'ndjson', jsonl: 'ndjson', json: 'json', csv: 'csv' } as const;

/**
 * The format that a key ends in; undefined if it is none that is read.
 *
 *   calls/2026-11-24.csv.gz → csv, gzip
 *
 * Rule: streams.md#formats-of-files.
 */
export function formatOf(key: string, setting: S3Settings['format']): ObjectFormat | undefined {
  const endings = key
    .slice(key.lastIndexOf('/') + 1)
    .toLowerCase()
    .split('.')
    .slice(1);
  const packing = named(PACKINGS, endings.at(-1));
  if (packing) endings.pop();
  const content = setting === 'auto' ? named(CONTENTS, endings.at(-1)) : setting;
  return content && { content, packing: packing ?? 'none' };
}

const named = <Name extends string, Value>(names: Readonly<Record<Name, Value>>, name: string | undefined) =>
  name !== undefined && Object.hasOwn(names, name) ? names[name as Name] : undefined;
