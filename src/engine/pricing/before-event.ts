import type { Usage } from './priced.ts';

/**
 * Whether nothing was due before an event billed in advance, not even the first flat amount: no units and no event, so
 * that the first event pays the flat amount, once. Rule: usage-and-charges C.10 "in the run without the event".
 */
export const isUntouched = ({ units, eventsCount }: Usage): boolean => units.isZero() && eventsCount <= 0;
