import { localDate } from '../calendar/local-day.ts';
import type { Period } from '../calendar/period.ts';

/** Number of local days in a window that opens and ends at local midnight: 28 to 31 of a month, 1 of a day. */
export const wholeDaysOf = ({ from, to }: Period, zone: string): number =>
  localDate(from, zone).until(localDate(to, zone), { largestUnit: 'day' }).days;
