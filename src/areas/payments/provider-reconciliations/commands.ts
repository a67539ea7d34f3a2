import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getProvider } from '../../customers/payment-providers/queries.ts';
import { countOpenRuns, getRun, insertRun, listRuns } from './queries.ts';
import type { RunCreate, RunsQuery } from './schema.ts';
import { runView } from './view.ts';

/** How far back a run may look: as long as drifts are kept. */
const MOST_DAYS = 400;
/** How many runs of one organization may wait: each reads a whole account. */
const MOST_OPEN = 20;
const HOURS_OF_A_DAY = 24;

/** Compares what a provider holds with ours, page by page. */
export const RECONCILE_JOB = 'payment.reconcile';

/**
 * Asks for a run now. Providers live in real time, so that it has no other.
 *
 * @throws Refusal 404 payment_provider; 422 from, to, base, when twenty runs wait already
 * Rule: provider-reconciliation.md#routes.
 */
export async function createRun(ctx: Context, { body }: { body?: RunCreate }) {
  const { payment_provider_code: code } = body ?? {};
  const provider = code == null ? null : await getProvider(ctx, code);
  const now = realNow();
  const daysAgo = (days: number) => now.subtract({ hours: days * HOURS_OF_A_DAY });
  const from = body?.from == null ? daysAgo(ctx.config.RECONCILE_DAYS) : Temporal.Instant.from(body.from);
  const to = body?.to == null ? null : Temporal.Instant.from(body.to);
  if (Temporal.Instant.compare(from, daysAgo(MOST_DAYS)) < 0 || Temporal.Instant.compare(from, now) > 0)
    throw refuse.invalid({ from: ['value_is_out_of_range'] });
  if (to && Temporal.Instant.compare(to, from) < 0) throw refuse.invalid({ to: ['value_is_out_of_range'] });
  if ((await countOpenRuns(ctx)) >= MOST_OPEN) throw refuse.invalid({ base: ['value_is_out_of_range'] });
  const id = newId();
  await insertRun(ctx, { id, providerId: provider?.id ?? null, from, to, now });
  ctx.after({ nudge: RECONCILE_JOB, payload: { provider_reconciliation_id: id } });
  return { provider_reconciliation: runView(await getRun(ctx, id)) };
}

export async function showRuns(ctx: Context, { query }: { query: RunsQuery }) {
  const { rows, totalCount } = await listRuns(ctx, query);
  return { provider_reconciliations: rows.map(runView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 provider_reconciliation */
export async function showRun(ctx: Context, { svc_id }: { svc_id: string }) {
  return { provider_reconciliation: runView(await getRun(ctx, svc_id)) };
}
