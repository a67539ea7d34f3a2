import type { Context } from '../../../platform/context.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ApiKeyId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findPolicy } from '../../catalog/usage-policies/queries.ts';
import type { Policy } from '../../catalog/usage-policies/schema.ts';
import { type ConcernedCharge, listConcernedCharges } from './periods.ts';

/**
 * The policy of a correction: that of the request, else the plan's, else the organization's, else `next_invoice`.
 *
 * @throws Refusal 403 write_action_not_allowed_for_invoice, when a policy other than `ignore` requires it
 * Rules: other-routes.md#common-ground, event-corrections.md#policy.
 */
export async function policyOf(
  ctx: Context,
  externalSubscriptionId: ExternalSubscriptionId,
  asked: Policy | null | undefined,
): Promise<Policy> {
  const policy = asked ?? (await findPolicy(ctx, externalSubscriptionId, 'corrections')) ?? 'next_invoice';
  if (policy !== 'ignore') await demandWrite(ctx, 'invoice');
  return policy;
}

/**
 * Demands that a key may write a further resource; the service itself may.
 *
 * @throws Refusal 403 write_action_not_allowed_for_…
 */
export async function demandWrite(ctx: Context, resource: 'invoice' | 'event_correction'): Promise<void> {
  const { apiKeyId } = ctx.actor;
  if (apiKeyId === null || (await mayWrite(ctx, apiKeyId, resource))) return;
  throw refuse.forbidden(`write_action_not_allowed_for_${resource}`);
}

async function mayWrite({ db, organizationId }: Scope, apiKeyId: ApiKeyId, resource: string): Promise<boolean> {
  const [row] = await db<{ may: boolean }[]>`
    select coalesce(permissions -> ${resource}::text ? 'write', false) as may from api_keys
    where organization_id = ${organizationId} and id = ${apiKeyId}`;
  return row?.may ?? false;
}

/** The effect of a correction on invoices. */
export interface Effect {
  /** Drafts that are refreshed. */
  draftIds: string[];
  /** Charges on issued invoices that are settled. */
  invoiced: ConcernedCharge[];
}

/**
 * The effect on invoices of corrections at these moments: periods that are not billed need nothing, drafts are
 * refreshed, issued invoices are settled.
 *
 * moments  rows (code, timestamp) of the events before and after the correction
 *
 * Rule: event-corrections.md#effect.
 */
export async function effectOf(
  ctx: Context,
  externalSubscriptionId: ExternalSubscriptionId,
  moments: Fragment,
): Promise<Effect> {
  const concerned = await listConcernedCharges(ctx, externalSubscriptionId, { moments, withRenewals: true });
  const invoiced = concerned.filter(({ is_draft }) => !is_draft);
  const drafts = concerned.filter(({ is_draft }) => is_draft);
  return { draftIds: [...new Set(drafts.map(({ invoice_id }) => invoice_id))].sort(), invoiced };
}
