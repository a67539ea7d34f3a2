import type { Temporal } from 'temporal-polyfill';

/** Id of a tick's job in the queue. */
export const tickJobId = (job: string, tickAt: Temporal.Instant): string => `tick-${job}-${tickAt.epochMilliseconds}`;
