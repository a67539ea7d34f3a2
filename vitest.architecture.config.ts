import { defineConfig } from 'vitest/config';

// The architecture test reads files only: it needs no servers.
export default defineConfig({ test: { include: ['test/architecture.test.ts'] } });
