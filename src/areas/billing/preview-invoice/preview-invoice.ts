import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { later } from '../../../engine/calendar/instants.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { draftNumber } from '../../../engine/invoices/invoice-number.ts';
import type { Context } from '../../../platform/context.ts';
import type {
  BillingEntityId,
  CustomerId,
  ExternalCustomerId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import type { InvoicePreview } from '../../invoices/invoices/preview-schema.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { createSubscription } from '../../subscriptions/subscriptions/commands/create.ts';
import { startSubscription } from '../../subscriptions/subscriptions/commands/start.ts';
import { terminateSubscription } from '../../subscriptions/subscriptions/commands/terminate.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { findPlanForSale, getPlanFacts, lockSubscriptions } from '../../subscriptions/subscriptions/writes.ts';
import { linesOfStep } from '../bill-subscriptions/bill-after-change.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer, type PayerFacts, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { type ComingInvoice, comingInvoice } from './coming-invoice.ts';
import { giveCoupons } from './give-coupons.ts';
import { taxPreview } from './preview-taxes.ts';
import { previewedCustomer } from './previewed-customer.ts';
import { type Imagined, imagine } from './run-and-take-back.ts';

type Input = InvoicePreview;

/** What a preview assumes about a subscription where the request does not say. */
const NOTHING_ELSE = {
  name: undefined,
  payment_method: undefined,
  purchase_order_number: undefined,
  buyer_reference: undefined,
};

/**
 * Shows the invoice that a new subscription, a termination, a plan change or the next period will bring, to the cent,
 * and stores nothing: the commands run at their own instants and are rolled back. The invoice is shown as a draft
 * without number, but with coupons, credits and wallets applied.
 *
 * @throws TaxesWanted, when a tax engine has to be asked first
 * @throws Refusal 400 without customer; 404 customer, plan, subscription, coupon, billing_entity; 422 of what does not
 *   go together
 * Rule: previews.md.
 */
export async function previewInvoice(ctx: Context, { body }: { body: Input }) {
  if (!body.customer) throw refuse.missingRoot('customer');
  if (body.billing_entity_code) await getBillingEntity(ctx, body.billing_entity_code);
  const wanted = body.subscriptions?.external_ids ?? [];
  if (wanted.length > 0 && !body.customer.external_id) throw refuse.invalid({ customer: ['must_be_persisted'] });

  const stored = body.customer.external_id ? await getCustomer(ctx, body.customer.external_id) : undefined;
  const couponCodes = (body.coupons ?? []).flatMap(({ code }) => code || []);
  return imagine(ctx, { customerId: stored?.id ?? null, couponCodes }, async (imagined) => {
    const present = imagined.at(ctx.now());
    const customer = await previewedCustomer(present, body);
    await giveCoupons(present, customer, body.coupons);
    const coming =
      wanted.length > 0
        ? await ofSubscriptions(imagined, present, customer.id, body)
        : await ofNewSubscription(imagined, present, customer, body);
    return shown(imagined, customer.id, coming);
  });
}

/** Shows the first fee of a plan in advance, which the end of its trial brings. Rule: subscription-fees.md#trial. */
export const previewEndOfTrial = (
  ctx: Context,
  { id, customer_id: customerId }: { id: SubscriptionId; customer_id: CustomerId },
  at: Temporal.Instant,
) =>
  imagine(ctx, { customerId, couponCodes: [] }, (imagined) =>
    shown(imagined, customerId, {
      lines: [{ subscription_id: id, reason: 'subscription_starting', endsTrial: true }],
      at,
    }),
  );

/** The invoice of stored subscriptions: of their next period, or of the requested end or plan change. */
async function ofSubscriptions(
  imagined: Imagined,
  ctx: Context,
  customerId: CustomerId,
  { subscriptions, customer }: Input,
): Promise<ComingInvoice> {
  const { external_ids: wanted, terminated_at: terminatedAt, plan_code: planCode } = subscriptions!;
  const payer = await lockPayer(ctx, customerId);
  const found = await findSubscriptions(ctx, customerId, [...new Set(wanted)]);
  const [only] = found;
  assert(only, 'at least one subscription is asked about');
  if (only.status === 'pending') return startOf(imagined, ctx, payer, only);
  if (terminatedAt !== undefined) {
    if (found.length > 1) throw refuse.invalid({ subscriptions: ['only_one_subscription_allowed_for_termination'] });
    const endsAt = Temporal.Instant.from(terminatedAt);
    if (Temporal.Instant.compare(endsAt, ctx.now()) < 0) throw refuse.invalid({ terminated_at: ['cannot_be_in_past'] });
    await terminateSubscription(imagined.at(endsAt), only, { invoice: 'generate' });
    return firstOwed(imagined);
  }
  if (planCode) {
    if (found.length > 1) throw refuse.invalid({ subscriptions: ['only_one_subscription_allowed_for_plan_change'] });
    return ofPlanChange(imagined, ctx, payer, only, { planCode, externalCustomerId: customer!.external_id! });
  }
  return comingInvoice(imagined, payer, found, ctx.now());
}

/** Active records of the external ids; a single one may not have started yet. @throws Refusal 404 subscription */
async function findSubscriptions(
  ctx: Context,
  customerId: CustomerId,
  externalIds: readonly string[],
): Promise<SubscriptionRow[]> {
  const rows = await ctx.db<{ id: SubscriptionId; external_id: string; status: string }[]>`
    select id, external_id, status from subscriptions
    where organization_id = ${ctx.organizationId} and customer_id = ${customerId}
      and external_id = any (${externalIds}) and status in ('active', 'pending')
    order by id`;
  const chosen = externalIds.map((externalId) => {
    const own = rows.filter((row) => row.external_id === externalId);
    const active = own.find(({ status }) => status === 'active');
    const found = active ?? (externalIds.length === 1 ? own[0] : undefined);
    if (!found) throw refuse.notFound('subscription');
    return found.id;
  });
  return lockSubscriptions(ctx, chosen);
}

async function ofPlanChange(
  imagined: Imagined,
  ctx: Context,
  payer: PayerFacts,
  subscription: SubscriptionRow,
  { planCode, externalCustomerId }: { planCode: string; externalCustomerId: ExternalCustomerId },
): Promise<ComingInvoice> {
  const plan = await findPlanForSale(ctx, planCode);
  if (!plan) throw refuse.notFound('plan');
  if (plan.id === subscription.plan_id)
    throw refuse.invalid({ base: ['new_plan_should_be_different_from_existing_plan'] });
  await createSubscription(imagined.at(ctx.now()), {
    external_customer_id: externalCustomerId,
    external_id: subscription.external_id,
    plan_code: planCode,
    billing_time: subscription.billing_time,
    ...NOTHING_ELSE,
  });
  return imagined.owed.length > 0 ? firstOwed(imagined) : comingInvoice(imagined, payer, [subscription], ctx.now());
}

/** The first invoice of a plan that the customer may subscribe to. @throws Refusal 404 plan */
async function ofNewSubscription(
  imagined: Imagined,
  ctx: Context,
  customer: { id: CustomerId; external_id: string },
  body: Input,
): Promise<ComingInvoice> {
  const startsAt = body.subscription_at ? Temporal.Instant.from(body.subscription_at) : ctx.now();
  if (!body.plan_code) throw refuse.notFound('plan');
  const id = await createSubscription(imagined.at(startsAt), {
    external_customer_id: customer.external_id,
    external_id: newId(),
    plan_code: body.plan_code,
    billing_time: body.billing_time,
    ...NOTHING_ELSE,
    subscription_at: startsAt.toString(),
    ...(body.billing_entity_code ? { billing_entity_code: body.billing_entity_code } : {}),
  });
  return firstInvoice(imagined, ctx, { customerId: customer.id, id, startsAt });
}

/** The first invoice of a subscription that starts later: in the first tick of its local day. */
async function startOf(
  imagined: Imagined,
  ctx: Context,
  payer: PayerFacts,
  subscription: SubscriptionRow,
): Promise<ComingInvoice> {
  const opening = dayStart(localDate(subscription.subscription_at, payer.zone), payer.zone);
  const startsAt = later(opening, ctx.now());
  const plan = await getPlanFacts(ctx, subscription.plan_id);
  await startSubscription(imagined.at(startsAt), subscription, { plan, zone: payer.zone, at: startsAt });
  return firstInvoice(imagined, ctx, { customerId: subscription.customer_id, id: subscription.id, startsAt });
}

/** Fees in advance at the start and fees in arrears at the end of the first period. */
async function firstInvoice(
  imagined: Imagined,
  ctx: Context,
  { customerId, id, startsAt }: { customerId: CustomerId; id: string; startsAt: Temporal.Instant },
): Promise<ComingInvoice> {
  const [subscription] = await lockSubscriptions(ctx, [id]);
  const plan = await getPlanFacts(ctx, subscription!.plan_id);
  if (plan.pay_in_advance && imagined.owed.length > 0) return firstOwed(imagined);
  if (plan.pay_in_advance) return { lines: [{ subscription_id: id, reason: 'subscription_starting' }], at: startsAt };
  const payer = await lockPayer(ctx, customerId);
  return comingInvoice(imagined, payer, [subscription!], startsAt);
}

/** The first invoice that the commands owe; of the two of an upgrade, that of the plan that ends. */
function firstOwed({ owed }: Imagined): ComingInvoice {
  const [step] = owed;
  assert(step, 'what happened owes an invoice');
  return { lines: linesOfStep(step), at: Temporal.Instant.from(step.at) };
}

async function shown(imagined: Imagined, customerId: CustomerId, { lines, at }: ComingInvoice) {
  const ctx = imagined.at(at);
  const payer = await lockPayer(ctx, customerId);
  const skipUsage = lines.every(({ reason }) => reason === 'subscription_starting' || reason === 'in_advance_charge');
  const invoiceId = await buildInvoice(ctx, { payer, lines, at, skipUsage, isFinal: true });
  assert(invoiceId, 'nothing of the future is billed yet');
  if (payer.tax_engine_id !== null) await taxPreview(ctx, invoiceId);
  const { invoice } = await showInvoice(ctx, invoiceId);
  const { sequential_id: _none, ...rest } = invoice;
  const prefix = await prefixOf(ctx, invoiceId);
  return { invoice: { ...rest, number: draftNumber(prefix), status: 'draft' } };
}

async function prefixOf(ctx: Context, invoiceId: InvoiceId): Promise<string> {
  const [row] = await ctx.db<{ billing_entity_id: BillingEntityId }[]>`
    select billing_entity_id from invoices where organization_id = ${ctx.organizationId} and id = ${invoiceId}`;
  return (await readIssuer(ctx, row!.billing_entity_id)).document_number_prefix;
}
