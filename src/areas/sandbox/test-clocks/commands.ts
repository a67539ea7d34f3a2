import { Temporal } from 'temporal-polyfill';
import { lockClockCreation } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { DOUBLE } from '../../../platform/payments/providers.ts';
import { writeTimeline } from '../../../platform/records/timeline.ts';
import { refuse } from '../../../platform/refusal.ts';
import { MANDATORY, OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import { parseInstant } from '../../../platform/schema/instant-field.ts';
import { refuseOutsideSandbox } from './outside-sandbox.ts';
import {
  arrive,
  closeTimeline,
  deleteClock,
  findNewestRecordAt,
  insertTestClock,
  lockTestClock,
  moveBeginning,
  openTimeline,
  requestCancel,
  resumeAdvance,
  startAdvance,
  type TestClockRow,
} from './queries.ts';
import type { TestClockInput } from './schema.ts';
import { testClockView } from './view.ts';

/** A clock stands in the years 2000 to 2099. */
const EARLIEST = Temporal.Instant.from('2000-01-01T00:00:00Z');
const LATEST = Temporal.Instant.from('2099-12-31T23:59:59.999999999Z');
/** A worker takes a new advance within moments; after this long the sweep nudges again. */
const TAKEN_WITHIN_SECONDS = 5;

interface ClockInput {
  body: TestClockInput;
}

/**
 * Freezes the organization's time. The first clock of an organization without customers also moves the creation of the
 * organization there. Rule: test-clocks.md#routes, test-clocks.md#sandboxes.
 *
 * @throws Refusal 403 feature_unavailable; 405 provider_connected, beside a real connection
 * (provider-connections.md#sandboxes-reach-no-live-account); 422 frozen_time (mandatory, invalid_date, before the
 * newest record or outside 2000 to 2099), base value_already_exist
 */
export async function createTestClock(ctx: Context, { body }: ClockInput): Promise<object> {
  refuseOutsideSandbox(ctx);
  const frozenTime = readFrozenTime(body);
  await lockClockCreation(ctx);
  const connected = await ctx.db`
    select from payment_providers
    where organization_id = ${ctx.organizationId} and provider_type <> ${DOUBLE} and deleted_at is null limit 1`;
  if (connected.length > 0) throw refuse.notAllowed('provider_connected');
  const newest = await findNewestRecordAt(ctx);
  refuseOutside(frozenTime, newest && before(EARLIEST, newest) ? newest : EARLIEST, LATEST);
  if (!(await insertTestClock(ctx, frozenTime, realNow()))) {
    throw refuse.invalid({ base: ['value_already_exist'] });
  }
  await moveBeginning(ctx, frozenTime);
  await openTimeline(ctx);
  await writeClockLine(ctx, 'created', frozenTime);
  return answer(await lockTestClock(ctx));
}

/**
 * Starts the walk to a later instant; a worker does it (src/jobs/advance-clock). From `failed` the failed job comes
 * first, whatever the target. If nothing falls due the clock arrives at once; a target equal to the present runs
 * nothing.
 *
 * @throws Refusal 403 feature_unavailable; 404 test_clock; 405 test_clock_advancing; 422 frozen_time (mandatory,
 * invalid_date, before the present or more than TEST_CLOCK_MAX_SPAN_YEARS ahead)
 */
export async function advanceTestClock(ctx: Context, { body }: ClockInput): Promise<object> {
  refuseOutsideSandbox(ctx);
  const target = readFrozenTime(body);
  const clock = await lockTestClock(ctx);
  if (clock.status === 'advancing') throw refuse.notAllowed('test_clock_advancing');
  const farthest = clock.frozen_time
    .toZonedDateTimeISO('UTC')
    .add({ years: ctx.config.TEST_CLOCK_MAX_SPAN_YEARS })
    .toInstant();
  refuseOutside(target, clock.frozen_time, farthest);
  if (clock.status === 'ready') {
    if (target.equals(clock.frozen_time)) return answer(clock);
    if (ctx.fallsDue && !(await ctx.fallsDue(target))) {
      await writeClockLine(ctx, 'advanced', target, { from: clock.frozen_time.toString(), steps_done: 0 });
      return answer(await arrive(ctx, target));
    }
  }
  nudgeWorker(ctx);
  return answer(await startAdvance(ctx, target, takenBy()));
}

/**
 * Continues with the failed job towards the same target.
 *
 * @throws Refusal 403 feature_unavailable; 404 test_clock; 405 invalid_status unless failed
 */
export async function retryTestClock(ctx: Context): Promise<object> {
  refuseOutsideSandbox(ctx);
  const clock = await lockTestClock(ctx);
  if (clock.status !== 'failed') throw refuse.notAllowed('invalid_status');
  nudgeWorker(ctx);
  return answer(await resumeAdvance(ctx, takenBy()));
}

/**
 * Requests the advance to stop after the instant in work; the clock is then ready at the instant reached.
 *
 * @throws Refusal 403 feature_unavailable; 404 test_clock; 405 invalid_status unless advancing
 */
export async function cancelTestClock(ctx: Context): Promise<object> {
  refuseOutsideSandbox(ctx);
  const clock = await lockTestClock(ctx);
  if (clock.status !== 'advancing') throw refuse.notAllowed('invalid_status');
  await requestCancel(ctx);
  return answer(clock);
}

/**
 * Back to real time; nothing is undone.
 *
 * @throws Refusal 403 feature_unavailable; 404 test_clock; 405 test_clock_advancing
 */
export async function deleteTestClock(ctx: Context): Promise<object> {
  refuseOutsideSandbox(ctx);
  const clock = await lockTestClock(ctx);
  if (clock.status === 'advancing') throw refuse.notAllowed('test_clock_advancing');
  await deleteClock(ctx);
  await writeClockLine(ctx, 'deleted', clock.frozen_time);
  await closeTimeline(ctx, realNow());
  return answer(clock);
}

const answer = (clock: TestClockRow) => ({ test_clock: testClockView(clock) });

function readFrozenTime(body: TestClockInput): Temporal.Instant {
  const value = body.frozen_time;
  if (value === undefined || value === null || value === '') throw refuse.invalid({ frozen_time: [MANDATORY] });
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  if (!instant) throw refuse.invalid({ frozen_time: ['invalid_date'] });
  return instant;
}

const before = (a: Temporal.Instant, b: Temporal.Instant): boolean => a.epochNanoseconds < b.epochNanoseconds;

/** The place of the error names the times that would be taken, in whole seconds within them. */
function refuseOutside(time: Temporal.Instant, earliest: Temporal.Instant, latest: Temporal.Instant): void {
  if (!before(time, earliest) && !before(latest, time)) return;
  const from = earliest.round({ smallestUnit: 'second', roundingMode: 'ceil' });
  const reason = `from ${from} to ${latest.round({ smallestUnit: 'second', roundingMode: 'floor' })}`;
  const place = { field: 'frozen_time', code: OUT_OF_RANGE, path: ['frozen_time'], reason };
  throw refuse.invalid({ frozen_time: [OUT_OF_RANGE] }, [place]);
}

const takenBy = (): Temporal.Instant => realNow().add({ seconds: TAKEN_WITHIN_SECONDS });

const nudgeWorker = (ctx: Context): void => ctx.after({ nudge: 'clock.advance', payload: {} });

const writeClockLine = (ctx: Context, name: string, at: Temporal.Instant, summary: object = {}) =>
  writeTimeline(ctx.db, { organizationId: ctx.organizationId, at, realNow: realNow() }, [
    { kind: 'clock', name, summary },
  ]);
