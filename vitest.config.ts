import { defineConfig } from 'vitest/config';
import { base, FILES_ONLY } from './test/support/vitest-base.ts';

// `npm test`: all but what `npm run check`, `npm run test:proof` and `npm run test:scale` run.
export default defineConfig({
  test: {
    ...base,
    include: ['test/**/*.test.ts'],
    exclude: [...FILES_ONLY, 'test/**/*.proof.test.ts', 'test/proof/**', 'test/scale/**'],
  },
});
