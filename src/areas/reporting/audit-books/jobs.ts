import { readOrganizationNow } from '../../../platform/clock/organization-clock.ts';
import { newId } from '../../../platform/ids.ts';
import type { Hold, SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { transact } from '../../../platform/records/transact.ts';
import { auditBooks } from './audit.ts';
import { listOrganizations } from './findings.ts';

/** Job `audit-recent`: the checks that are cheap, hourly. Rules: periodic-jobs.md, auditor.md. */
export const auditRecent: SweepJob = {
  name: 'audit-recent',
  sweep: (deps, _at, hold) => auditAll(deps, 'incremental', hold),
};

/** Job `audit-full`: all checks, nightly. */
export const auditFull: SweepJob = { name: 'audit-full', sweep: (deps, _at, hold) => auditAll(deps, 'full', hold) };

/**
 * Audits organizations one after the other, each in its own transaction at its own present; a failure does not stop the
 * others.
 */
async function auditAll(deps: SweepDeps, mode: 'incremental' | 'full', hold: Hold | undefined): Promise<void> {
  for (const { id, sandbox } of await listOrganizations(deps.sql)) {
    await hold?.();
    try {
      await transact(
        deps,
        { id, sandbox },
        (tx) => readOrganizationNow({ db: tx, organizationId: id }, sandbox),
        (ctx) => auditBooks(ctx, { id: newId(), mode }),
      );
    } catch (error) {
      deps.log.error({ organization_id: id, error }, 'the books could not be audited');
    }
  }
}
