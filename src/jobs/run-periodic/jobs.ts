import type { SweepDeps } from '../../platform/periodic-job.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import type { Registry } from './periodic-registry.ts';
import { runWork } from './run-item.ts';
import { runTick } from './run-tick.ts';

/** Handler of the `periodic` queue, for the scheduler pool. */
export const periodicTickHandlers = (deps: SweepDeps, registry: Registry): Pick<Handlers, 'periodic.tick'> => ({
  'periodic.tick': (payload, info) => runTick(deps, registry, payload, info),
});

/** Handler of fanned-out work, for the billing pool. */
export const periodicWorkHandlers = (deps: SystemDeps, registry: Registry): Pick<Handlers, 'periodic.work'> => ({
  'periodic.work': (payload) => runWork(deps, registry, payload),
});
