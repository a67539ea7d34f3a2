import { setTimeout as pause } from 'node:timers/promises';
import { runTick } from '../../../src/jobs/run-periodic/run-tick.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { recordingProducer, scratchDeps } from '../../jobs/advance-clock/scratch.ts';

// A process whose tick writes page after page, until it has lost its lease.
const [worker, settings] = process.argv.slice(2) as [string, string];
const { url, at } = JSON.parse(settings) as { url: string; at: string };
const BETWEEN_PAGES_MS = 200;

const sql = connectDatabase(url, { connections: 2 });
const pages = {
  name: 'pages',
  async sweep(_deps: unknown, _at: unknown, hold?: () => Promise<void>): Promise<void> {
    for (;;) {
      await hold?.();
      await sql`insert into pages (worker) values (${worker})`;
      await pause(BETWEEN_PAGES_MS);
    }
  },
};
const deps = { ...scratchDeps(sql), redis: undefined as never, producer: recordingProducer() };
const registry = { rows: [], periodicJobs: [], sweepJobs: [pages] };
await runTick(deps, registry, { job: 'pages', at }, { lastAttempt: false });
await sql.end();
