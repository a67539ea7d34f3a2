import { Temporal } from 'temporal-polyfill';

export type Instant = Temporal.Instant;
export type PlainDate = Temporal.PlainDate;

export const isBefore = (a: Instant, b: Instant): boolean => Temporal.Instant.compare(a, b) < 0;
export const isAfter = (a: Instant, b: Instant): boolean => Temporal.Instant.compare(a, b) > 0;
export const earlier = (a: Instant, b: Instant): Instant => (isAfter(a, b) ? b : a);
export const later = (a: Instant, b: Instant): Instant => (isBefore(a, b) ? b : a);

export const isDateBefore = (a: PlainDate, b: PlainDate): boolean => Temporal.PlainDate.compare(a, b) < 0;
export const isDateAfter = (a: PlainDate, b: PlainDate): boolean => Temporal.PlainDate.compare(a, b) > 0;

/** The instant cut to whole seconds, as nearly every time is shown. */
export const wholeSecond = (instant: Instant): Instant =>
  instant.round({ smallestUnit: 'second', roundingMode: 'floor' });

/** The calendar date of an instant in UTC. */
export const utcDate = (instant: Instant): PlainDate => instant.toZonedDateTimeISO('UTC').toPlainDate();
