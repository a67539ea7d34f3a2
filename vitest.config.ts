import { defineConfig } from 'vitest/config';
import { base } from './test/support/vitest-base.ts';

// `npm test`: all but what `npm run test:proof` and `npm run test:scale` run.
export default defineConfig({
  test: {
    ...base,
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.proof.test.ts', 'test/proof/**', 'test/scale/**'],
  },
});
