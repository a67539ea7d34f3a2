import { Temporal } from 'temporal-polyfill';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { TIMELINE_KINDS, type TimelineKind } from './schema.ts';

/** Where a page begins: behind this row. */
export interface TimelinePlace {
  at: Temporal.Instant;
  kind: TimelineKind;
  id: string;
}

const VERSION = 1;
const LIST = 'timeline';
const MICROSECONDS = 6;

/**
 * The place of a row as an opaque text for clients.
 *
 *   2026-11-19T06:00:00Z, activity, 0198f0c0-… → base64url of
 *   [1,"timeline","2026-11-19T06:00:00.000000Z","activity","0198f0c0-…"]
 *
 * Rule: console-reads.md#timeline.
 */
export const cursorOf = ({ at, kind, id }: TimelinePlace): string =>
  Buffer.from(
    JSON.stringify([VERSION, LIST, at.toString({ fractionalSecondDigits: MICROSECONDS }), kind, id]),
  ).toString('base64url');

const ISO_TEXT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** @throws Refusal 422 cursor: value_is_invalid, for a text that is not a cursor of this list */
export function placeOf(cursor: string): TimelinePlace {
  const [version, list, at, kind, id] = partsOf(cursor);
  const known = TIMELINE_KINDS.find((each) => each === kind);
  const instant = typeof at === 'string' && ISO_TEXT.test(at) ? instantOf(at) : undefined;
  if (version !== VERSION || list !== LIST || !instant || !known || typeof id !== 'string' || !isUuid(id))
    throw refuse.invalid({ cursor: ['value_is_invalid'] });
  return { at: instant, kind: known, id };
}

function instantOf(text: string): Temporal.Instant | undefined {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return undefined; // the form was right, the day was not
  }
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return []; // not JSON, so it is not a cursor
  }
}
