import { defineConfig } from 'vitest/config';

// The service on several servers, poolers and standbys: `npm run test:scale`. It takes the long form of test/scale,
// and its short form, which `npm run test:proof` takes too.
export default defineConfig({
  test: {
    include: ['test/scale/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Each file brings servers of its own, and some measure.
    maxWorkers: 1,
  },
});
