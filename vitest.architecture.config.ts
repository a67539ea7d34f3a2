import { defineConfig } from 'vitest/config';
import { FILES_ONLY } from './test/support/vitest-base.ts';

// Some read every file of the project, beside compilers that want both processors.
export default defineConfig({ test: { include: FILES_ONLY, testTimeout: 60_000 } });
