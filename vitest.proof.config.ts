import { defineConfig } from 'vitest/config';
import { base } from './test/support/vitest-base.ts';

// `npm run test:proof`: what starts, kills or installs whole services and servers, plans statements over very many
// rows, or sends every wrong value; and the short form of test/scale.
export default defineConfig({
  test: {
    ...base,
    include: ['test/**/*.proof.test.ts', 'test/proof/**/*.test.ts', 'test/scale/**/*.short.test.ts'],
  },
});
