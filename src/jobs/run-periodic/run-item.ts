import { Temporal } from 'temporal-polyfill';
import { holdClock, isSandbox } from '../../platform/clock/organization-clock.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import { transact } from '../../platform/records/transact.ts';
import type { JobPayload } from '../../queues.ts';
import type { Registry } from './periodic-registry.ts';

/**
 * Does one fanned-out item in one transaction, at the organization's present: real time. Items of an organization that
 * got a test clock meanwhile are left to its advances (periodic-jobs.md "clock B").
 */
export async function runWork(
  deps: SystemDeps,
  registry: Registry,
  payload: JobPayload<'periodic.work'>,
): Promise<void> {
  const job = registry.periodicJobs.find((each) => each.name === payload.job);
  if (!job) throw new Error(`${payload.job} is not in the table of periodic jobs`);
  const item = job.item.parse(payload.item);
  const id = payload.organization_id;
  const sandbox = await isSandbox({ db: deps.sql, organizationId: id });
  await transact(
    deps,
    { id, sandbox },
    async (tx) => (sandbox && (await holdClock({ db: tx, organizationId: id })) ? null : realNow()),
    (ctx) => job.work(ctx, item, Temporal.Instant.from(payload.at)),
  );
}
