import type { SweepDeps } from '../../platform/periodic-job.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import type { Registry } from './periodic-registry.ts';
import { runWork } from './run-item.ts';
import { runTick } from './run-tick.ts';

/** How soon a tick looks again whether the queue that it fills has room. */
const COME_BACK_MS = 1000;

/** Handler of the `periodic` queue, for the scheduler pool. */
export const periodicTickHandlers = (deps: SweepDeps, registry: Registry): Pick<Handlers, 'periodic.tick'> => ({
  async 'periodic.tick'(payload, info) {
    if (!(await runTick(deps, registry, payload, info))) await info.comeBack(COME_BACK_MS);
  },
});

/** Handler of fanned-out work, for the billing pool. */
export const periodicWorkHandlers = (deps: SystemDeps, registry: Registry): Pick<Handlers, 'periodic.work'> => ({
  'periodic.work': (payload) => runWork(deps, registry, payload),
});
