import type { Temporal } from 'temporal-polyfill';
import { millisecondsText, secondsText } from '../../engine/calendar/instant-text.ts';

/** Instant as the API shows it: UTC, whole seconds (cut, not rounded). */
export const seconds = secondsText;

/** Instant with three fractional digits: event timestamps and `started_at`. */
export const milliseconds = millisecondsText;

/** Omits empty keys, which the contract allows to be absent but not null. */
export const present = <Fields extends Record<string, unknown>>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as never;

export const secondsOrNull = (instant: Temporal.Instant | null): string | null =>
  instant === null ? null : seconds(instant);
export const millisecondsOrNull = (instant: Temporal.Instant | null): string | null =>
  instant === null ? null : milliseconds(instant);
