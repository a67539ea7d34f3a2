import { z } from 'zod';
import { withoutNullBytes } from '../../platform/schema/fields.ts';
import { renameErrors } from '../../platform/schema/flat-errors.ts';

/** Limits of the metadata of one record. Rules: credits-and-payments C.13, platform B.5. */
const MAX_KEYS = 50;
const MAX_KEY_LENGTH = 100;
const MAX_VALUE_LENGTH = 255;

const isKey = (key: string): boolean => key !== '' && key.length <= MAX_KEY_LENGTH && key.isWellFormed();

/** What is wrong with metadata; all of it stands under the field `value`. */
export function metadataFaults(metadata: Readonly<Record<string, unknown>>): string[] {
  const isValue = (value: unknown) =>
    value === null || (typeof value === 'string' && value.length <= MAX_VALUE_LENGTH && value.isWellFormed());
  return [
    ...(Object.keys(metadata).length > MAX_KEYS ? ['too_many_keys'] : []),
    ...(Object.keys(metadata).every(isKey) ? [] : ['key_is_invalid']),
    ...(Object.values(metadata).every(isValue) ? [] : ['value_is_invalid']),
  ];
}

/** Metadata of a record: names with a text or null each. */
export const Metadata = z.preprocess(
  withoutNullBytes,
  z
    .record(z.string(), z.custom<string | null>(), { error: () => 'value_is_invalid' })
    .superRefine((metadata, context) => {
      for (const message of metadataFaults(metadata)) context.addIssue({ code: 'custom', message });
    }),
);
export type Metadata = z.infer<typeof Metadata>;

/** Check for an object with metadata: what is wrong with it stands under the field `value`. */
export const metadataErrors = <Output>() => renameErrors<Output>((path) => (path[0] === 'metadata' ? ['value'] : path));
