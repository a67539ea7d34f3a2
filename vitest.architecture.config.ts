import { defineConfig } from 'vitest/config';

// These tests read files only: they need no servers.
export default defineConfig({
  test: {
    include: [
      'test/architecture.test.ts',
      'test/architecture-page.test.ts',
      'test/deployment.test.ts',
      'test/docs.test.ts',
      'test/error-codes.test.ts',
      'test/licences.test.ts',
      'test/lock-file.test.ts',
      'test/named-files.test.ts',
    ],
  },
});
