import { Temporal } from 'temporal-polyfill';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import { INVALID_DATE, parseBound } from '../../../platform/schema/instant-field.ts';
import type { EventVolumeQuery, VolumeStep } from './schema.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const STEP_MS: Readonly<Record<VolumeStep, number>> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };

/** How far back steps go; how long a span is at most, with a code and without, and how long if none is named. */
const LIMITS: Readonly<Record<VolumeStep, { back: number; most: number; mostOfAll: number; usual: number }>> = {
  minute: { back: 48 * HOUR_MS, most: 24 * HOUR_MS, mostOfAll: 3 * HOUR_MS, usual: HOUR_MS },
  hour: { back: 60 * DAY_MS, most: 60 * DAY_MS, mostOfAll: 10 * DAY_MS, usual: DAY_MS },
  day: { back: 400 * DAY_MS, most: 400 * DAY_MS, mostOfAll: 60 * DAY_MS, usual: 30 * DAY_MS },
};

/** Whole steps in UTC; `to` is exclusive. */
export interface Span {
  from: Temporal.Instant;
  to: Temporal.Instant;
  stepMs: number;
  /** At least one. */
  steps: number;
}

/**
 * The steps that a query asks for; bounds are widened to whole ones.
 *
 *   minutes from 10:00:30 to 11:00:00 → 60 from 10:00
 *
 * now  real time
 * @throws Refusal 422 from, to: invalid_date; from: value_is_out_of_range, too far back, too long or not before `to`
 * Rule: event-volume.md#reading.
 */
export function spanOf({ from, to, step, code }: EventVolumeQuery, now: Temporal.Instant): Span {
  const { back, most, mostOfAll, usual } = LIMITS[step];
  const nowMs = now.epochMilliseconds;
  const toMs = instantMs('to', to) ?? nowMs;
  const fromMs = instantMs('from', from) ?? toMs - usual;
  const stepMs = STEP_MS[step];
  const first = Math.floor(fromMs / stepMs) * stepMs;
  const end = Math.ceil(toMs / stepMs) * stepMs;
  const isTooLong = end - first > (code === undefined ? mostOfAll : most);
  const isTooOld = first < Math.floor(nowMs / stepMs) * stepMs - back;
  if (end <= first || isTooLong || isTooOld) throw refuse.invalid({ from: [OUT_OF_RANGE] });
  return {
    from: Temporal.Instant.fromEpochMilliseconds(first),
    to: Temporal.Instant.fromEpochMilliseconds(end),
    stepMs,
    steps: (end - first) / stepMs,
  };
}

function instantMs(field: 'from' | 'to', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bound = parseBound(text.trim());
  if (!bound) throw refuse.invalid({ [field]: [INVALID_DATE] });
  return bound.epochMilliseconds;
}
