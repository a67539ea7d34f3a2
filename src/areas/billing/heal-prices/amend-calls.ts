import type { Context } from '../../../platform/context.ts';
import {
  type ApiKeyId,
  type CorrectionId,
  type EventId,
  type ExternalSubscriptionId,
  newId,
} from '../../../platform/ids.ts';
import { stepJob } from '../../../platform/records/nudge.ts';
import type { Policy } from '../../catalog/usage-policies/schema.ts';
import type { EventAmendment, EventToCorrect } from '../../usage/event-corrections/lock-events.ts';
import { matchAll } from '../../usage/ingest-events/match-all.ts';
import { createOwed } from '../../usage/ingest-events/owe-in-advance.ts';
import { correctEvents, notBegun } from '../correct-events/create-correction.ts';
import { listToMatch } from './waiting-calls.ts';

/** Why calls of one subscription are amended, and by whom. */
interface Cause {
  /** Of the correction; a new one if it is not given. */
  id?: CorrectionId;
  kind: 'price_healing' | 'price_rerating';
  reason: string;
  subscription: ExternalSubscriptionId;
  policy: Policy;
  input?: Record<string, unknown>;
  /** Null: by the service itself. */
  apiKeyId?: ApiKeyId | null;
}

/**
 * Amends locked calls of one subscription by one correction, and settles issued invoices by its policy.
 *
 * @returns the correction
 */
export async function amendCalls(
  ctx: Context,
  calls: readonly EventToCorrect[],
  amendments: readonly EventAmendment[],
  { id = newId() as CorrectionId, kind, reason, subscription, policy, input = {}, apiKeyId = null }: Cause,
): Promise<CorrectionId> {
  const asked = {
    id,
    kind,
    status: 'pending' as const,
    policy,
    credit_note_part: 'credit' as const,
    reason,
    dry_run: false,
    external_subscription_id: subscription,
    transaction_id: null,
    input,
    api_key_id: apiKeyId,
    ...notBegun(ctx),
    total: calls.length,
  };
  await correctEvents(ctx, asked, calls, amendments, null);
  return id;
}

/**
 * Owes the fees in advance of calls that had no amount and have one now: until then none was made. What a charge has
 * billed already is not billed again.
 */
export async function billInAdvance(ctx: Context, ids: readonly EventId[]): Promise<void> {
  const owed = createOwed();
  await owed.store(ctx.db, await matchAll(ctx.db, await listToMatch(ctx, ids)), []);
  for (const step of owed.steps) ctx.after({ nudge: 'step.run', payload: stepJob(step).payload });
}
