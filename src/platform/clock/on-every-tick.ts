import cron from 'node-cron';
import { Temporal } from 'temporal-polyfill';
import { cronOf, latestTick, type Tick } from './ticks.ts';

/**
 * Calls `run` with the tick's instant at every tick of the machine's clock. A tick missed by more than a second is
 * skipped. Intervals that cron cannot express also fire in between, with the previous tick.
 */
export function onEveryTick(tick: Tick, run: (tickAt: Temporal.Instant) => Promise<void>): { close(): Promise<void> } {
  const task = cron.schedule(
    cronOf(tick),
    // The intended moment of the task, because timers may fire a little early.
    ({ date }) => run(latestTick(tick, Temporal.Instant.fromEpochMilliseconds(date.getTime()))),
    { timezone: 'UTC', suppressMissedWarning: true },
  );
  return {
    async close() {
      await task.destroy();
    },
  };
}
