import type { Context } from '../../../../platform/context.ts';
import type { Fragment } from '../../../../platform/db/connect.ts';
import type { CorrectionId } from '../../../../platform/ids.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import { attemptOfEarlier } from '../attempt-or-undo.ts';
import { inRange } from '../in-range.ts';
import { settleChanged } from './settle-chains.ts';
import { settleRenewals } from './settle-renewals.ts';

/** A correction that is about to change usage; no id: it is not made yet. */
type Changing = Pick<CorrectionRow, 'external_subscription_id'> & { id: CorrectionId | null };

/**
 * Before a correction changes usage: earlier ones that have marked chains, or periods opened with carried units, and
 * not settled them, as a range between its pages, settle them by the usage of now: chains first.
 *
 * Rule: event-corrections.md#corrections-that-wait.
 */
export async function settleOpen(ctx: Context, correction: Changing): Promise<void> {
  await settleEach(ctx, correction, ctx.db`correction_chains`, settleChanged);
  await settleEach(ctx, correction, ctx.db`correction_renewals`, settleRenewals);
}

async function settleEach(
  ctx: Context,
  { id, external_subscription_id: subscription }: Changing,
  marks: Fragment,
  settle: (on: Context, earlier: CorrectionRow) => Promise<unknown>,
): Promise<void> {
  const { db, organizationId } = ctx;
  const marked = await db<{ id: CorrectionId }[]>`
    select correction.id from event_corrections correction
    where correction.organization_id = ${organizationId} and correction.external_subscription_id = ${subscription}
      and correction.status in ('pending', 'applied') and correction.id is distinct from ${id}::uuid
      and exists (
        select from ${marks} mark
        where mark.organization_id = correction.organization_id and mark.correction_id = correction.id
          and mark.settled_at is null)
    order by correction.id`;
  for (const { id: earlierId } of marked)
    await attemptOfEarlier(ctx, earlierId, (on, earlier) => inRange(() => settle(on, earlier)));
}
