import { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { roundToDigits } from '../../../engine/money/precision.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { type CustomerRow, lockCustomer } from '../../customers/customers/queries.ts';
import { chooseSections } from '../../customers/invoice-custom-sections/choose-sections.ts';
import { setFirstCurrency } from '../../subscriptions/subscriptions/writes.ts';
import { readWalletLimit } from '../../tenancy/organizations/settings/queries.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { recordWallet, shownWallet } from './announce.ts';
import {
  creditFaults,
  expirationFaults,
  methodFaults,
  rangeFaults,
  readRules,
  ruleFaults,
} from './faults-of-fields.ts';
import { isLimits, type Limits, readLimits } from './limits-of-wallet.ts';
import { listWalletCodes, readWallet } from './queries.ts';
import type { CustomerWalletCreate, WalletCreate } from './schema.ts';
import { storeRule } from './store-top-up-rule.ts';
import { type ReadRule, readRule } from './top-up-rule-input.ts';
import { insertWallet } from './writes.ts';

const PRIORITY_DEFAULT = 50;
const RATE_DIGITS = 5;

/** Owed work: the first credits of a new wallet. */
const FIRST_CREDITS = 'book-first-credits';

/**
 * Makes a wallet. Its first credits are booked right after it.
 *
 * @throws Refusal 404 billing_entity; 422 by field
 * Rules: wallets.md#fields, wallets.md#transactions, top-ups.md#recurring-rules.
 */
export async function createWallet(ctx: Context, { body }: { body: WalletCreate }) {
  const customer = await lockCustomer(ctx, body.external_customer_id);
  if (!customer) throw refuse.invalid({ customer: ['customer_not_found'] });
  return create(ctx, customer, body);
}

/** As createWallet. @throws Refusal 404 customer */
export async function createCustomerWallet(
  ctx: Context,
  { external_customer_id, body }: { external_customer_id: ExternalCustomerId; body: CustomerWalletCreate },
) {
  const customer = await lockCustomer(ctx, external_customer_id);
  if (!customer) throw refuse.notFound('customer');
  return create(ctx, customer, body);
}

async function create(ctx: Context, customer: CustomerRow, body: CustomerWalletCreate) {
  const now = ctx.now();
  const billingEntityId = body.billing_entity_code
    ? (await getBillingEntity(ctx, body.billing_entity_code)).id
    : customer.billing_entity_id;
  const currency = body.currency ?? (customer.currency as Currency | null);
  const rate = roundToDigits(decimal(body.rate_amount), RATE_DIGITS);
  const [taken, mostWallets] = await Promise.all([listWalletCodes(ctx, customer.id), readWalletLimit(ctx)]);
  const limits = await readLimits(ctx, body.applies_to);
  const rules = readRules(body.recurring_transaction_rules, (given) =>
    readRule(
      given,
      {
        created_at: now,
        invoice_requires_successful_payment: body.invoice_requires_successful_payment ?? false,
        firstPaid: body.paid_credits,
        firstGranted: body.granted_credits,
      },
      now,
    ),
  );
  const topUpLimits = {
    rate,
    exponent: exponentOf(currency ?? 'USD'),
    min: body.paid_top_up_min_amount_cents ?? null,
    max: body.paid_top_up_max_amount_cents ?? null,
  };
  const faults: Record<string, string[]> = {
    ...(taken.length >= mostWallets ? { customer: ['wallet_limit_reached'] } : {}),
    ...(currency === null ? { currency: ['value_is_mandatory'] } : {}),
    ...(body.code && taken.some(({ code }) => code === body.code) ? { code: ['value_already_exist'] } : {}),
    ...creditFaults('paid_credits', body.paid_credits, {
      limits: topUpLimits,
      ignoresLimits: body.ignore_paid_top_up_limits_on_creation ?? false,
    }),
    ...creditFaults('granted_credits', body.granted_credits, {
      limits: { ...topUpLimits, min: null, max: null },
      ignoresLimits: true,
    }),
    ...expirationFaults(body.expiration_at, now),
    ...rangeFaults(topUpLimits.min, topUpLimits.max),
    ...(isLimits(limits) ? {} : { ...limits, applies_to: ['invalid_limitations'] }),
    ...(await methodFaults(ctx, customer.id, body.payment_method)),
    ...(await ruleFaults(ctx, customer.id, rules, topUpLimits)),
  };
  refuseFaults(faults);

  const id = newId();
  await insertWallet(
    ctx,
    {
      id,
      customer_id: customer.id,
      billing_entity_id: billingEntityId,
      code: body.code || freeCode(body.name ?? null, taken, now),
      name: body.name ?? null,
      priority: body.priority ?? PRIORITY_DEFAULT,
      currency: currency!,
      rate_amount: rate,
      ...(limits as Limits),
      paid_top_up_min_amount_cents: topUpLimits.min as Cents | null,
      paid_top_up_max_amount_cents: topUpLimits.max as Cents | null,
      invoice_requires_successful_payment: body.invoice_requires_successful_payment ?? false,
      payment_method_type: body.payment_method?.payment_method_type ?? null,
      payment_method_id: body.payment_method?.payment_method_id ?? null,
      purchase_order_number: body.purchase_order_number?.trim() || null,
      skip_invoice_custom_sections: body.invoice_custom_section?.skip_invoice_custom_sections ?? false,
      metadata: body.metadata ?? null,
      expiration_at: body.expiration_at ? Temporal.Instant.from(body.expiration_at) : null,
    },
    now,
  );
  if (customer.currency === null) await setFirstCurrency(ctx, customer.id, { currency: currency!, now });
  await chooseSections(ctx, { type: 'wallet', id }, body.invoice_custom_section);
  const wallet = await readWallet(ctx, id);
  for (const rule of rules as ReadRule[]) await storeRule(ctx, wallet, rule);
  if (body.paid_credits || body.granted_credits)
    ctx.after({
      step: FIRST_CREDITS,
      payload: {
        wallet_id: id,
        paid_credits: body.paid_credits,
        granted_credits: body.granted_credits,
        name: body.transaction_name ?? null,
        priority: body.transaction_priority ?? null,
        metadata: body.transaction_metadata,
      },
    });
  await markWallets(ctx, customer.id);
  return { wallet: await shownWallet(ctx, await recordWallet(ctx, 'wallet.created', id)) };
}

/** The code of a wallet without one: made from its name; if it is taken the time is appended. */
function freeCode(name: string | null, taken: readonly { code: string }[], now: Temporal.Instant): string {
  const code =
    (name ?? '')
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_+|_+$/g, '') || 'default';
  const isTaken = taken.some((each) => each.code === code);
  return isTaken ? `${code}_${Math.floor(now.epochMilliseconds / 1000)}` : code;
}
