import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { ProviderRow } from '../../customers/payment-providers/queries.ts';
import type { Figures, FoundDrift } from '../provider-drifts/drift-kinds.ts';
import type { DriftRow } from '../provider-drifts/queries.ts';
import { type Compared, compareDisputes, comparePayments, compareRefunds } from './compare-lists.ts';
import { type ToRepair, textsOf } from './repair.ts';

/** What the provider said when it was asked anew. */
export interface Answered {
  /** Null: it cannot be asked about such an object, and what it said last counts. */
  theirs: Figures | null;
  /** Whether what was missing there is there again. */
  isThereAgain: boolean;
}

/** What a drift said when it was seen last. */
export const toRepair = (drift: DriftRow): ToRepair => ({
  kind: drift.kind,
  objectId: drift.provider_object_id,
  ours: drift.ours,
  theirs: drift.theirs,
  paymentId: drift.payment_id,
  customerId: drift.customer_id,
});

/** The drift with both sides as they are now; `gone` when they are equal. */
export async function compareAnew(
  ctx: Context,
  provider: ProviderRow,
  drift: DriftRow,
  told: Answered | undefined,
): Promise<ToRepair | 'gone'> {
  const theirs = told?.theirs ?? drift.theirs;
  const as = { ...toRepair(drift), theirs };
  switch (drift.kind) {
    case 'customer_missing_there':
    case 'method_missing_there':
    case 'mandate_inactive':
    case 'payment_missing_there':
    case 'refund_missing_there':
      return told?.isThereAgain ? 'gone' : as;
    case 'authorization_open': {
      const released = await ctx.db`
        select from authorizations
        where organization_id = ${ctx.organizationId} and id = ${drift.provider_object_id} and released_at is not null`;
      return released.length > 0 ? 'gone' : as;
    }
    default: {
      const [compared] = theirs ? await compareOne(ctx, provider, drift, theirs) : [];
      if (!compared || !('drift' in compared)) return compared && isEqual(compared) ? 'gone' : as;
      const { kind, ours } = compared.drift satisfies FoundDrift;
      return kind === drift.kind ? { ...as, ours, paymentId: compared.drift.paymentId } : as;
    }
  }
}

const isEqual = (compared: Compared): boolean => 'verdict' in compared && compared.verdict === 'equal';

function compareOne(ctx: Context, provider: ProviderRow, drift: DriftRow, theirs: Figures): Promise<Compared[]> {
  const now = realNow();
  const { amount_cents: amountCents, currency } = theirs;
  const status = String(theirs.status ?? '');
  const money = { ...(currency ? { currency } : {}), ...(amountCents === undefined ? {} : { amountCents }) };
  const metadata = textsOf(theirs);
  const id = drift.provider_object_id;
  if (drift.kind === 'dispute_missing_here') {
    const providerPaymentId = String(theirs.provider_payment_id);
    const dispute = { providerDisputeId: id, providerPaymentId, isLost: true, reason: null };
    return compareDisputes(ctx, provider, [dispute], now);
  }
  if (theirs.provider_payment_id !== undefined) {
    const providerPaymentId = String(theirs.provider_payment_id);
    return compareRefunds(
      ctx,
      provider,
      [{ providerRefundId: id, providerPaymentId, status, ...money, metadata }],
      now,
    );
  }
  return comparePayments(ctx, provider, [{ providerPaymentId: id, status, ...money, metadata }], now);
}
