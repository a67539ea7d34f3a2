import type { ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

/** Tests that read files only and need no servers: `npm run check` runs them, and no other run a second time. */
export const FILES_ONLY = [
  'test/architecture.test.ts',
  'test/architecture-page.test.ts',
  'test/deployment.test.ts',
  'test/docs.test.ts',
  'test/error-codes.test.ts',
  'test/golden-ai.test.ts',
  'test/golden-payments.test.ts',
  'test/golden-scale.test.ts',
  'test/licences.test.ts',
  'test/lock-file.test.ts',
  'test/named-files.test.ts',
  'test/refused-by-citus.test.ts',
];

/** What `npm test`, `npm run test:proof` and `npm run test:scale` have in common. */
export const base: NonNullable<ViteUserConfig['test']> = {
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: 120_000,
  hookTimeout: 300_000,
  pool: 'forks',
  // A worker runs one file after the other and keeps what it has loaded and compiled: no module of the service holds
  // the state of one database or one organization. Measured: to load its modules took a file 1.5 s of processor time
  // with a process of its own, and takes 0.2 s.
  isolate: false,
  // Young objects of a whole service die in it: measured, a twentieth of the processor time of a worker with 16 MB.
  execArgv: ['--max-semi-space-size=64'],
  // One more than the two processors of a small machine: while one file waits for what it killed, others work.
  maxWorkers: 3,
  sequence: { sequencer: LongestFirst },
};
