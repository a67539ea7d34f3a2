import { Temporal } from 'temporal-polyfill';

/** When a job ticks, in UTC: every n seconds from midnight, at a minute of each hour, or at a time of each day. */
export type Tick = { everySeconds: number } | { minuteOfHour: number } | { timeOfDay: `${number}:${number}` };

const NANOS = 1_000_000_000n;
const HOUR_SECONDS = 3600n;
const DAY_SECONDS = 86_400n;

/** The first tick after `after`, at or after `from`. */
export function nextTick(tick: Tick, after: Temporal.Instant, from: Temporal.Instant = after): Temporal.Instant {
  const { every, offset } = gridOf(tick);
  const earliest = max(after.epochNanoseconds + 1n, from.epochNanoseconds);
  return Temporal.Instant.fromEpochNanoseconds(ceilDivide(earliest - offset, every) * every + offset);
}

/** The last tick at or before `at`. */
export function latestTick(tick: Tick, at: Temporal.Instant): Temporal.Instant {
  const { every, offset } = gridOf(tick);
  return Temporal.Instant.fromEpochNanoseconds(floorDivide(at.epochNanoseconds - offset, every) * every + offset);
}

export const isTick = (tick: Tick, at: Temporal.Instant): boolean => latestTick(tick, at).equals(at);

/** Expression for node-cron that fires at every tick; for unusual intervals it also fires in between. */
export function cronOf(tick: Tick): string {
  if ('minuteOfHour' in tick) return `${tick.minuteOfHour} * * * *`;
  if ('timeOfDay' in tick) {
    const [hour, minute] = tick.timeOfDay.split(':').map(Number);
    return `${minute} ${hour} * * *`;
  }
  if (tick.everySeconds % 60 === 0) return '* * * * *';
  return 60 % tick.everySeconds === 0 ? `*/${tick.everySeconds} * * * * *` : '* * * * * *';
}

function gridOf(tick: Tick): { every: bigint; offset: bigint } {
  if ('everySeconds' in tick) return { every: BigInt(tick.everySeconds) * NANOS, offset: 0n };
  if ('minuteOfHour' in tick) return { every: HOUR_SECONDS * NANOS, offset: BigInt(tick.minuteOfHour) * 60n * NANOS };
  const [hour = 0, minute = 0] = tick.timeOfDay.split(':').map(Number);
  return { every: DAY_SECONDS * NANOS, offset: BigInt(hour * 3600 + minute * 60) * NANOS };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const ceilDivide = (a: bigint, b: bigint): bigint => -floorDivide(-a, b);
const floorDivide = (a: bigint, b: bigint): bigint => a / b - (a % b < 0n ? 1n : 0n);
