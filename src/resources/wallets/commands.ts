import { Temporal } from 'temporal-polyfill';
import { localDate } from '../../engine/calendar/local-day.ts';
import { nextTopUpDay } from '../../engine/credits/wallet-interval.ts';
import type { Cents } from '../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../engine/money/currency.ts';
import { decimal } from '../../engine/money/decimal.ts';
import { roundToDigits } from '../../engine/money/precision.ts';
import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';
import { refuse } from '../../platform/refusal.ts';
import { getBillingEntity } from '../billing-entities/queries.ts';
import { type CustomerRow, getCustomer, lockCustomer } from '../customers/queries.ts';
import { setFirstCurrency } from '../subscriptions/writes.ts';
import { creditFaults, expirationFaults, methodFaults, rangeFaults, readRules, ruleFaults } from './faults.ts';
import { isLimits, type Limits, readLimits } from './limits.ts';
import { markWallets } from './marks.ts';
import { listWalletCodes, lockWallet, readWallet, type WalletKey, type WalletRow } from './queries.ts';
import { recordWallet, shownWallet } from './record.ts';
import { type ReadRule, readRule } from './rule-input.ts';
import { listRules, putRule, type RuleRow, terminateRules } from './rules-queries.ts';
import type { CustomerWalletCreate, WalletCreate, WalletUpdate } from './schema.ts';
import { changeWallet, insertWallet, wasToppedUp } from './sql.ts';

/** Active wallets that a customer may have. Rule: credits-and-payments D.1. */
const MOST_WALLETS = 6;
const PRIORITY_DEFAULT = 50;
const RATE_DIGITS = 5;

/** Owed work: the first credits of a new wallet. */
export const FIRST_CREDITS = 'book-first-credits';

/**
 * Makes a wallet. Its first credits are booked right after it.
 *
 * @throws Refusal 404 billing_entity; 422 by field
 * Rules: credits-and-payments D.1, D.3, D.8.
 */
export async function createWallet(ctx: Context, { body }: { body: WalletCreate }) {
  const customer = await lockCustomer(ctx.db, ctx.organizationId, body.external_customer_id);
  if (!customer) throw refuse.invalid({ customer: ['customer_not_found'] });
  return create(ctx, customer, body);
}

/** As createWallet. @throws Refusal 404 customer */
export async function createCustomerWallet(
  ctx: Context,
  { external_customer_id, body }: { external_customer_id: string; body: CustomerWalletCreate },
) {
  const customer = await lockCustomer(ctx.db, ctx.organizationId, external_customer_id);
  if (!customer) throw refuse.notFound('customer');
  return create(ctx, customer, body);
}

async function create(ctx: Context, customer: CustomerRow, body: CustomerWalletCreate) {
  const { db, organizationId } = ctx;
  const now = ctx.now();
  const billingEntityId = body.billing_entity_code
    ? (await getBillingEntity(db, organizationId, body.billing_entity_code)).id
    : customer.billing_entity_id;
  const currency = body.currency ?? (customer.currency as Currency | null);
  const rate = roundToDigits(decimal(body.rate_amount), RATE_DIGITS);
  const taken = await listWalletCodes(db, organizationId, customer.id);
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
    ...(taken.length >= MOST_WALLETS ? { customer: ['wallet_limit_reached'] } : {}),
    ...(currency === null ? { currency: ['value_is_mandatory'] } : {}),
    ...(body.code && taken.some(({ code }) => code === body.code) ? { code: ['value_already_exist'] } : {}),
    ...creditFaults(
      'paid_credits',
      body.paid_credits,
      topUpLimits,
      body.ignore_paid_top_up_limits_on_creation ?? false,
    ),
    ...creditFaults('granted_credits', body.granted_credits, { ...topUpLimits, min: null, max: null }, true),
    ...expirationFaults(body.expiration_at, now),
    ...rangeFaults(topUpLimits.min, topUpLimits.max),
    ...(isLimits(limits) ? {} : { ...limits, applies_to: ['invalid_limitations'] }),
    ...(await methodFaults(ctx, customer.id, body.payment_method)),
    ...(await ruleFaults(ctx, customer.id, rules, topUpLimits)),
  };
  if (Object.keys(faults).length > 0) throw refuse.invalid(faults);

  const id = newId();
  await insertWallet(
    db,
    organizationId,
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
  if (customer.currency === null) await setFirstCurrency(db, organizationId, customer.id, currency!, now);
  const wallet = await readWallet(db, organizationId, id);
  for (const rule of rules as ReadRule[]) await storeRule(ctx, wallet, rule);
  if (body.paid_credits || body.granted_credits)
    ctx.after({
      job: FIRST_CREDITS,
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

/** @throws Refusal 404 wallet; 422 by field */
export const updateWallet = async (ctx: Context, { svc_id, body }: { svc_id: string; body: WalletUpdate }) =>
  update(ctx, { id: svc_id }, body);

/** @throws Refusal 404 customer, wallet; 422 by field */
export async function updateCustomerWallet(
  ctx: Context,
  input: { external_customer_id: string; code: string; body: WalletUpdate },
) {
  return update(ctx, await keyOf(ctx, input), input.body);
}

/** The wallet of a code at a customer. @throws Refusal 404 customer */
export async function keyOf(
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  { external_customer_id, code }: { external_customer_id: string; code: string },
): Promise<WalletKey> {
  return { customerId: (await getCustomer(db, organizationId, external_customer_id)).id, code };
}

/** Changes what is given; rules that are not named end. Rules: credits-and-payments D.1, D.8. */
async function update(ctx: Context, key: WalletKey, body: WalletUpdate) {
  const { db, organizationId } = ctx;
  const now = ctx.now();
  const wallet = await lockWallet(db, organizationId, key);
  if (!wallet) throw refuse.notFound('wallet');
  if (wallet.status === 'terminated') throw refuse.invalid({ wallet_id: ['wallet_is_terminated'] });
  const stored = await listRules(db, organizationId, [wallet.id]);
  const before = await shownWallet(ctx, wallet);

  const min = given(body.paid_top_up_min_amount_cents, wallet.paid_top_up_min_amount_cents);
  const max = given(body.paid_top_up_max_amount_cents, wallet.paid_top_up_max_amount_cents);
  const topUpLimits = { rate: wallet.rate_amount, exponent: exponentOf(wallet.currency), min, max };
  const limits = await readLimits(ctx, body.applies_to, wallet);
  const rules =
    body.recurring_transaction_rules === undefined
      ? stored.map((rule): ReadRule => ({ id: rule.id, fields: rule }))
      : readRules(body.recurring_transaction_rules, (each) => readRule(each, wallet, now, stored));
  const others = (await listWalletCodes(db, organizationId, wallet.customer_id)).filter(({ id }) => id !== wallet.id);
  const faults: Record<string, string[]> = {
    ...(body.rate_amount != null && !decimal(body.rate_amount).eq(wallet.rate_amount)
      ? { rate_amount: ['value_is_frozen'] }
      : {}),
    ...(body.currency != null && body.currency !== wallet.currency ? { currency: ['value_is_frozen'] } : {}),
    ...(body.code && others.some(({ code }) => code === body.code) ? { code: ['value_already_exist'] } : {}),
    ...expirationFaults(body.expiration_at, now),
    ...rangeFaults(min, max),
    ...(isLimits(limits) ? {} : limits),
    ...(await methodFaults(ctx, wallet.customer_id, body.payment_method)),
    ...(await ruleFaults(ctx, wallet.customer_id, rules, topUpLimits)),
  };
  if (Object.keys(faults).length > 0) throw refuse.invalid(faults);

  const { allowed_fee_types, billable_metric_ids } = limits as Limits;
  await changeWallet(ctx, wallet.id, {
    allowed_fee_types,
    billable_metric_ids,
    paid_top_up_min_amount_cents: min as Cents | null,
    paid_top_up_max_amount_cents: max as Cents | null,
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.code ? { code: body.code } : {}),
    ...(body.priority === undefined ? {} : { priority: body.priority }),
    ...(body.expiration_at === undefined
      ? {}
      : { expiration_at: body.expiration_at === null ? null : Temporal.Instant.from(body.expiration_at) }),
    ...(body.invoice_requires_successful_payment == null
      ? {}
      : { invoice_requires_successful_payment: body.invoice_requires_successful_payment }),
    ...(body.payment_method === undefined
      ? {}
      : {
          payment_method_type: body.payment_method?.payment_method_type ?? null,
          payment_method_id: body.payment_method?.payment_method_id ?? null,
        }),
    ...(body.billing_entity_code
      ? { billing_entity_id: (await getBillingEntity(db, organizationId, body.billing_entity_code)).id }
      : {}),
    ...(body.invoice_custom_section === undefined
      ? {}
      : { skip_invoice_custom_sections: body.invoice_custom_section?.skip_invoice_custom_sections ?? false }),
    ...(body.purchase_order_number === undefined
      ? {}
      : { purchase_order_number: body.purchase_order_number?.trim() || null }),
    ...(body.metadata === undefined
      ? {}
      : { metadata: body.metadata === null ? null : (db.json(body.metadata) as never) }),
  });
  if (body.recurring_transaction_rules !== undefined) await replaceRules(ctx, wallet, stored, rules as ReadRule[]);
  await markWallets(ctx, wallet.customer_id);
  return { wallet: await shownWallet(ctx, await recordWallet(ctx, 'wallet.updated', wallet.id, before)) };
}

async function replaceRules(ctx: Context, wallet: WalletRow, stored: readonly RuleRow[], rules: ReadRule[]) {
  const [rule] = rules;
  await terminateRules(ctx.db, ctx.organizationId, wallet.id, ctx.now(), rule?.id ?? null);
  if (rule)
    await storeRule(
      ctx,
      wallet,
      rule,
      stored.find(({ id }) => id === rule.id),
    );
}

/** Stores a rule with the day of its next top-up: not the day on which the wallet was made, nor one that had its own. */
async function storeRule(ctx: Context, wallet: WalletRow, { id, fields }: ReadRule, former?: RuleRow): Promise<void> {
  const today = localDate(ctx.now(), wallet.zone);
  const startedOn = localDate(fields.started_at ?? wallet.created_at, wallet.zone);
  const isNewWallet = localDate(wallet.created_at, wallet.zone).equals(today);
  const isDone = isNewWallet || (await wasToppedUp(ctx.db, ctx.organizationId, wallet.id, today));
  const from = isDone ? today.add({ days: 1 }) : today;
  await putRule(
    ctx.db,
    ctx.organizationId,
    {
      ...fields,
      id: former?.id ?? id ?? newId(),
      wallet_id: wallet.id,
      next_top_up_on: fields.interval === null ? null : nextTopUpDay(fields.interval, startedOn, from),
    },
    ctx.now(),
  );
}

/** What is given, where nothing is what was there. */
const given = (value: number | null | undefined, former: number | null): number | null =>
  value === undefined ? former : value;

/** The code of a wallet that names none: from its name; a taken one is told apart by the time. */
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
