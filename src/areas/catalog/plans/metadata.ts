import { z } from 'zod';
import { anyValue, named } from '../../../platform/schema/bounded.ts';
import { withoutNullBytes } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';

/** Limits of the metadata of one record. Rules: credit-notes.md#metadata, error-bodies.md#codes-by-field. */
const MAX_KEYS = 50;
// More keys than this are refused unread; a few too many are reported together with all other errors.
const KEYS_AT_ALL_MAX = 2 * MAX_KEYS;
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

// Only texts short enough for the checks below.
const metadataValue = anyValue({
  max: SCALAR_MAX,
  textMax: LINE_MAX,
  tooMany: 'value_is_invalid',
}) as unknown as z.ZodType<string | null>;

/** Metadata of a record: names with a text or null each. */
export const Metadata = z.preprocess(
  withoutNullBytes,
  named(metadataValue, {
    max: KEYS_AT_ALL_MAX,
    wrong: { error: () => 'value_is_invalid' },
    tooMany: 'too_many_keys',
  })
    .check(renameErrors(() => []))
    .superRefine((metadata, context) => {
      for (const message of metadataFaults(metadata)) context.addIssue({ code: 'custom', message });
    }),
);
export type Metadata = z.infer<typeof Metadata>;

/** Check for an object with metadata: what is wrong with it stands under the field `value`. */
export const metadataErrors = <Output>() => renameErrors<Output>((path) => (path[0] === 'metadata' ? ['value'] : path));
