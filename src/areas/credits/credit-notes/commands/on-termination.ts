import type { Temporal } from 'temporal-polyfill';
import { type DateRange, periodHolding } from '../../../../engine/calendar/grid.ts';
import { isDateBefore, type PlainDate } from '../../../../engine/calendar/instants.ts';
import { localDate } from '../../../../engine/calendar/local-day.ts';
import { gridsOf, type PlanTerms, type SubscriptionTerms } from '../../../../engine/calendar/terms.ts';
import { alignedTotal, type CreditedItem, noteAmounts } from '../../../../engine/credits/credit-note-amounts.ts';
import { refundableOfInvoice } from '../../../../engine/credits/credit-note-limits.ts';
import {
  type NoteParts,
  type TerminationCredit,
  terminationParts,
} from '../../../../engine/credits/credit-note-parts.ts';
import { unusedDays } from '../../../../engine/credits/credit-note-unused-days.ts';
import { cents, roundToCents } from '../../../../engine/money/cents.ts';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import { trialEnd } from '../../../../engine/subscriptions/trial.ts';
import type { Context } from '../../../../platform/context.ts';
import type { CustomerId, FeeId, InvoiceId, SubscriptionId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';
import { dueOf } from '../../../invoices/invoices/amount-due.ts';
import { getVisibleInvoice, type InvoiceRow } from '../../../invoices/invoices/queries.ts';
import { firstStartOf } from '../../../subscriptions/subscriptions/writes.ts';
import { creditableOf, creditedFee, readCreditedInvoice } from '../credited-invoice.ts';
import { amountsOf, makeNote, zoneOf } from '../make-note.ts';

/** A subscription that ends, with its plan; their rows fit. */
export interface EndingSubscription {
  plan: PlanTerms & { amount_cents: number; trial_period: Decimal | null };
  subscription: SubscriptionTerms & {
    id: SubscriptionId;
    customer_id: CustomerId;
    external_id: string;
    trial_ended_at: Temporal.Instant | null;
  };
  at: Temporal.Instant;
  choice: TerminationCredit;
  isUpgrade: boolean;
}

/**
 * Gives back the unused days of a subscription that was paid in advance and ends now. There is nothing to give back
 * when the period in progress was not billed, or not for money. The caller holds the customer's lock.
 *
 * @throws Refusal 405 cannot_terminate_with_pending_taxes, when the invoice of the period waits for its taxes
 * Rules: credit-note-amounts.md#automatic-notes, plan-changes.md#upgrade, termination.md#ending-a-subscription,
 * termination.md#credit-for-unused-days.
 */
export async function creditUnusedDays(ctx: Context, ending: EndingSubscription): Promise<void> {
  const { plan, subscription, at, choice, isUpgrade } = ending;
  const last = await findLastFee(ctx, subscription.id);
  if (last === undefined || last.amount_cents === 0 || LOST.has(last.status)) return;
  const zone = await zoneOf(ctx, subscription.customer_id);
  const endedOn = localDate(at, zone);
  const period = periodHolding(gridsOf(plan, subscription, zone).plan, endedOn);
  if (!isPeriodBilled(ending, last, period, zone)) return;
  if (last.status === 'pending' || last.tax_status === 'pending')
    throw refuse.notAllowed('cannot_terminate_with_pending_taxes');

  await ctx.db`
    select from invoices where organization_id = ${ctx.organizationId} and id = ${last.invoice_id} for update`;
  const credited = await readCreditedInvoice(ctx, await getVisibleInvoice(ctx, last.invoice_id));
  const fee = credited.fees.find(({ id }) => id === last.id)!;
  const worth = unusedDays({
    planAmountCents: last.plan_amount_cents ?? plan.amount_cents,
    feeAmountCents: fee.amount_cents,
    creditedCents: credited.creditedOf.get(fee.id) ?? 0,
    period,
    billedFrom: localDate(last.from_datetime, zone),
    endedOn,
    isUpgrade,
    trialEndsOn: await trialEndOf(ctx, ending, zone),
  });
  if (worth.unusedCents.isZero()) return;

  const items = [{ fee, preciseAmountCents: worth.unusedCents }];
  const amounts = amountsOf(credited, items);
  const used = noteAmounts([{ fee: creditedFee(fee), preciseAmountCents: worth.usedCents } satisfies CreditedItem]);
  const parts = terminationParts(choice, alignedTotal(amounts), {
    preciseFeeTotalCents: feeTotal(fee),
    invoiceTotalWithTaxesCents: credited.invoice.sub_total_including_taxes_amount_cents,
    invoicePaidCents: credited.invoice.total_paid_amount_cents,
    usedCents: roundToCents(used.preciseTotalAmountCents),
    refundStepCents: credited.noted.refundStepCents,
    refundableCents: refundableOfInvoice(credited.noted, creditableOf(credited)),
  });
  await makeNote(ctx, {
    credited,
    items,
    amounts,
    parts: withinDue(parts, credited.invoice),
    reason: 'order_cancellation',
    subscriptionId: subscription.id,
  });
}

/** An invoice with one of these statuses owes nothing and reserves nothing. */
const LOST: ReadonlySet<string> = new Set(['voided', 'closed', 'deleted']);

interface LastFee {
  id: FeeId;
  invoice_id: InvoiceId;
  amount_cents: number;
  /** Price of the whole period when the fee was made. */
  plan_amount_cents: number | null;
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  status: string;
  tax_status: string | null;
}

async function findLastFee(ctx: Context, subscriptionId: SubscriptionId): Promise<LastFee | undefined> {
  const [fee] = await ctx.db<LastFee[]>`
    select fee.id, fee.invoice_id, fee.amount_cents,
      (fee.amount_details ->> 'plan_amount_cents')::bigint as plan_amount_cents,
      fee.from_datetime, fee.to_datetime, invoice.status, invoice.tax_status
    from fees fee
    join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
    where fee.organization_id = ${ctx.organizationId} and fee.subscription_id = ${subscriptionId}
      and fee.fee_type = 'subscription' and fee.deleted_at is null
    order by fee.created_at desc, fee.id desc
    limit 1`;
  return fee;
}

/**
 * Whether the fee is that of the period that holds the end: always in the first one.
 * Rule: termination.md#ending-a-subscription (3).
 */
function isPeriodBilled({ subscription }: EndingSubscription, fee: LastFee, period: DateRange, zone: string): boolean {
  const isFirst =
    subscription.started_at !== null && !isDateBefore(localDate(subscription.started_at, zone), period.first);
  const lastBilled = localDate(fee.to_datetime.subtract({ milliseconds: 1 }), zone);
  return isFirst || lastBilled.equals(period.last);
}

async function trialEndOf(ctx: Context, ending: EndingSubscription, zone: string): Promise<PlainDate | undefined> {
  const { plan, subscription } = ending;
  const { customer_id, external_id } = subscription;
  const firstStartedAt = await firstStartOf(ctx, customer_id, external_id);
  const end = trialEnd({ plan, subscription, firstStartedAt });
  return end === undefined ? undefined : localDate(end, zone);
}

const feeTotal = (fee: FeeRow): Decimal =>
  fee.taxes_precise_amount_cents.plus(fee.amount_cents).minus(fee.precise_coupons_amount_cents);

/** Only what is due can be settled; the rest of an offset becomes credit. */
function withinDue(parts: NoteParts, invoice: InvoiceRow): NoteParts {
  const excess = Math.max(parts.offsetCents - Math.max(dueOf(invoice), 0), 0);
  if (excess === 0) return parts;
  return { ...parts, offsetCents: cents(parts.offsetCents - excess), creditCents: cents(parts.creditCents + excess) };
}
