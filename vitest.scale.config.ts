import { defineConfig } from 'vitest/config';
import { base } from './test/support/vitest-base.ts';

// The service on several servers, poolers and standbys: `npm run test:scale`. It takes the long form of test/scale,
// and its short form, which `npm run test:proof` takes too. Each file brings servers of its own, and some measure.
export default defineConfig({
  test: { ...base, include: ['test/scale/**/*.test.ts'], testTimeout: 600_000, isolate: true, maxWorkers: 1 },
});
