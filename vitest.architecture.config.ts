import { defineConfig } from 'vitest/config';
import { FILES_ONLY } from './test/support/vitest-base.ts';

export default defineConfig({ test: { include: FILES_ONLY } });
