import type { Redis } from 'ioredis';
import { paced } from '../../../platform/payments/paced-jobs.ts';
import { openProviderCalls } from '../../../platform/payments/provider-calls.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { reconcile } from './reconcile.ts';

/** What the payments pool does to compare providers with ours, among their other calls. */
export function reconcileHandlers(deps: SystemDeps & { redis: Redis }): Pick<Handlers, 'payment.reconcile'> {
  const { REDIS_PREFIX: prefix, PROVIDER_CALLS_PER_SECOND: perSecond } = deps.config;
  const callsOf = openProviderCalls(deps.redis, { prefix, perSecond });
  return { 'payment.reconcile': paced(callsOf, (payload, calls) => reconcile({ ...deps, calls }, payload)) };
}
