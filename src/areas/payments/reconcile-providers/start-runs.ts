import type { Temporal } from 'temporal-polyfill';
import { takeInTurn } from '../../../platform/db/rows-in-turn.ts';
import { json } from '../../../platform/db/values.ts';
import type { OrganizationId, ReconciliationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import type { Hold, SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { RECONCILE_JOB } from '../provider-reconciliations/commands.ts';
import { NOTHING_COUNTED } from '../provider-reconciliations/queries.ts';

/** A run whose row was not touched for this time has lost its job. */
const LOST_AFTER_MINUTES = 5;
/** A connection that was compared in this time waits for the next day. */
const COMPARED_WITHIN_HOURS = 20;
/** How many connections a tick begins runs for, and how many of them of one organization. */
const MOST = 10_000;
const MOST_OF_ORGANIZATION = 20;
/** How long drifts and runs are kept. */
const KEPT_DAYS = 400;
const HOURS_OF_A_DAY = 24;
const DELETED_AT_ONCE = 5000;

/**
 * Begins the daily comparison of each connection with its provider. A run that cannot list anything still reads what is
 * not final. Rules: periodic-jobs.md#reconcile-providers, provider-reconciliation.md#runs.
 */
export const reconcileProviders: SweepJob = {
  name: 'reconcile-providers',
  async sweep(deps, at, hold) {
    const { sql, config } = deps;
    const due = await sql<{ organization_id: OrganizationId; id: string }[]>`
      select organization_id, id from (
        select organization_id, id, reconciled_at,
          row_number() over (partition by organization_id order by reconciled_at nulls first, id) as place
        from payment_providers provider
        where deleted_at is null and provider_type = any (${NETWORK_TYPES})
          and coalesce(reconciled_at < ${at.subtract({ hours: COMPARED_WITHIN_HOURS })}, true)
          and not exists (select from provider_reconciliations run
            where run.organization_id = provider.organization_id and run.status in ('pending', 'running')
              and coalesce(run.payment_provider_id = provider.id, true))) due
      where place <= ${MOST_OF_ORGANIZATION} order by reconciled_at nulls first, id limit ${MOST}`;
    const from = at.subtract({ hours: config.RECONCILE_DAYS * HOURS_OF_A_DAY });
    const runs = due.map(({ organization_id, id }) => ({ id: newId(), organization_id, payment_provider_id: id }));
    await sql`
      insert into provider_reconciliations (id, organization_id, payment_provider_id, status, from_at, counts,
        looked_at, created_at, updated_at)
      select id, organization_id, payment_provider_id, 'pending', ${from}, ${json(NOTHING_COUNTED)}::jsonb, ${at}, ${at},
        ${at}
      from jsonb_to_recordset(${json(runs)}::jsonb) as run (id uuid, organization_id uuid, payment_provider_id uuid)`;
    await nudgeRuns(deps, runs);
    await deleteOld(deps, at, hold);
  },
};

/**
 * Goes on with runs whose job was lost, and those that nobody has nudged since another one ended.
 * Rule: periodic-jobs.md#resume-reconciliations.
 */
export const resumeReconciliations: SweepJob = {
  name: 'resume-reconciliations',
  async sweep({ sql, producer }, at) {
    const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
    const runs = await takeInTurn<ReconciliationId>(sql, at, {
      table: 'provider_reconciliations',
      due: sql`record.status in ('pending', 'running') and record.updated_at < ${lost}`,
    });
    await nudgeRuns({ producer }, runs);
  },
};

const nudgeRuns = (
  { producer }: Pick<SweepDeps, 'producer'>,
  runs: readonly { organization_id: OrganizationId; id: ReconciliationId }[],
) =>
  producer.addMany(
    RECONCILE_JOB,
    runs.map(({ organization_id, id }) => ({
      payload: { organization_id, provider_reconciliation_id: id },
      options: { id: `reconcile-${id}`, forgetFailed: true },
    })),
  );

async function deleteOld({ sql }: Pick<SweepDeps, 'sql'>, at: Temporal.Instant, hold: Hold | undefined): Promise<void> {
  const before = at.subtract({ hours: KEPT_DAYS * HOURS_OF_A_DAY });
  for (const [table, ended] of [
    ['provider_drifts', 'closed_at'],
    ['provider_reconciliations', 'finished_at'],
  ] as const) {
    let deleted = DELETED_AT_ONCE;
    while (deleted === DELETED_AT_ONCE) {
      await hold?.();
      const removed = await sql`
        delete from ${sql(table)} where id in (
          select id from ${sql(table)} where ${sql(ended)} < ${before} limit ${DELETED_AT_ONCE})`;
      deleted = removed.count;
    }
  }
}
