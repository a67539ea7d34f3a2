import cron from 'node-cron';
import { Temporal } from 'temporal-polyfill';
import { cronOf, latestTick, type Tick } from './ticks.ts';

/**
 * Calls `run` with the tick's instant at every tick of the machine's clock. A tick whose moment was slept through by
 * more than a second does not come any more. Intervals that cron cannot say fire in between too, with the tick before.
 */
export function onEveryTick(tick: Tick, run: (tickAt: Temporal.Instant) => Promise<void>): { close(): Promise<void> } {
  const task = cron.schedule(
    cronOf(tick),
    // The moment the task was meant for: timers may fire a little early.
    ({ date }) => run(latestTick(tick, Temporal.Instant.fromEpochMilliseconds(date.getTime()))),
    { timezone: 'UTC', suppressMissedWarning: true },
  );
  return {
    async close() {
      await task.destroy();
    },
  };
}
