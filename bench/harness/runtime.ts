import { loadConfig } from '../../src/platform/config.ts';
import { openRuntime, type Runtime } from '../../src/platform/process/runtime.ts';
import { reactions } from '../../src/reactions.ts';
import type { Environment } from './environment.ts';
import { settingsOf } from './processes.ts';

/** The service's connections within the harness itself, which then runs commands and jobs as a worker does. */
export const openHarnessRuntime = (environment: Environment, name: string): Runtime =>
  openRuntime(loadConfig(settingsOf(environment)), name, undefined, { reactions });
