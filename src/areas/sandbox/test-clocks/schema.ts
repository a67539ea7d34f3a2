import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';

/** Checked by the commands, so that an organization without test clocks is refused with 403 first. */
export const TestClockInput = z.object({
  frozen_time: anyValue({ max: SCALAR_MAX, textMax: LINE_MAX, tooMany: 'invalid_date' })
    .optional()
    .meta({ type: 'string', format: 'date-time' }),
});
export type TestClockInput = z.infer<typeof TestClockInput>;

export const TimelineQuery = z.object({
  ...pageQuery,
  from: textFilter,
  to: textFilter,
  kinds: listFilter,
  resource_types: listFilter,
  external_customer_id: textFilter,
});
export type TimelineQuery = z.infer<typeof TimelineQuery>;

export const CLOCK_STATUSES = ['ready', 'advancing', 'failed'] as const;

/** What stopped an advance (test-clocks.md#routes). */
export const ClockError = z.object({
  at: z.iso.datetime(),
  job: z.string(),
  resource_type: z.string().nullable(),
  svc_resource_id: z.string().nullable(),
  code: z.string(),
  message: z.string(),
});

export const TestClockView = z.object({
  status: z.enum(CLOCK_STATUSES),
  frozen_time: z.iso.datetime(),
  target_time: z.iso.datetime().nullable(),
  error: ClockError.nullable(),
  progress: z.object({ done: z.int(), total: z.int(), percent: z.int() }),
  steps_done: z.int(),
  advances_count: z.int(),
  created_at: z.iso.datetime(),
});
export type TestClockView = z.infer<typeof TestClockView>;
/** `next_billing_at`: the least instant from which an active subscription is billed; null without one. */
export const ShownTestClock = z.object({
  test_clock: TestClockView.extend({ next_billing_at: z.iso.datetime().nullable() }),
});
export const TestClockEnvelope = z.object({ test_clock: TestClockView });

export const TimelineEntry = z.object({
  sequence: z.int(),
  at: z.iso.datetime(),
  kind: z.enum(['clock', 'job', 'activity', 'webhook', 'payment']),
  name: z.string(),
  resource_type: z.string().nullable(),
  svc_resource_id: z.string().nullable(),
  external_customer_id: z.string().nullable(),
  summary: z.record(z.string(), z.unknown()),
});
export type TimelineEntry = z.infer<typeof TimelineEntry>;
export const TimelineList = z.object({ timeline: z.array(TimelineEntry), meta: PageMeta });
