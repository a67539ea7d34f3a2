import { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { chooseSections } from '../../customers/invoice-custom-sections/choose-sections.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { recordWallet, shownWallet } from './announce.ts';
import { expirationFaults, methodFaults, rangeFaults, readRules, ruleFaults } from './faults-of-fields.ts';
import { isLimits, type Limits, readLimits } from './limits-of-wallet.ts';
import { keyOf, listWalletCodes, lockWallet, type WalletKey, type WalletRow } from './queries.ts';
import type { WalletUpdate } from './schema.ts';
import { storeRule } from './store-top-up-rule.ts';
import { type ReadRule, readRule } from './top-up-rule-input.ts';
import { listRules, type RuleRow, terminateRules } from './top-up-rule-queries.ts';
import { changeWallet } from './writes.ts';

/** @throws Refusal 404 wallet; 422 by field */
export const updateWallet = async (ctx: Context, { svc_id, body }: { svc_id: string; body: WalletUpdate }) =>
  update(ctx, { id: svc_id }, body);

/** @throws Refusal 404 customer, wallet; 422 by field */
export async function updateCustomerWallet(
  ctx: Context,
  input: { external_customer_id: ExternalCustomerId; code: string; body: WalletUpdate },
) {
  return update(ctx, await keyOf(ctx, input), input.body);
}

/** Changes the fields of the input; unnamed rules end. Rules: wallets.md#fields, top-ups.md#recurring-rules. */
async function update(ctx: Context, key: WalletKey, body: WalletUpdate) {
  const now = ctx.now();
  const wallet = await lockWallet(ctx, key);
  if (!wallet) throw refuse.notFound('wallet');
  if (wallet.status === 'terminated') throw refuse.invalid({ wallet_id: ['wallet_is_terminated'] });
  const stored = await listRules(ctx, [wallet.id]);
  const before = await shownWallet(ctx, wallet);

  const min = given(body.paid_top_up_min_amount_cents, wallet.paid_top_up_min_amount_cents);
  const max = given(body.paid_top_up_max_amount_cents, wallet.paid_top_up_max_amount_cents);
  const topUpLimits = { rate: wallet.rate_amount, exponent: exponentOf(wallet.currency), min, max };
  const limits = await readLimits(ctx, body.applies_to, wallet);
  const rules =
    body.recurring_transaction_rules === undefined
      ? stored.map((rule): ReadRule => ({ id: rule.id, fields: rule }))
      : readRules(body.recurring_transaction_rules, (each) => readRule(each, wallet, now, stored));
  const others = (await listWalletCodes(ctx, wallet.customer_id)).filter(({ id }) => id !== wallet.id);
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
  refuseFaults(faults);

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
      ? { billing_entity_id: (await getBillingEntity(ctx, body.billing_entity_code)).id }
      : {}),
    ...(body.invoice_custom_section === undefined
      ? {}
      : { skip_invoice_custom_sections: body.invoice_custom_section?.skip_invoice_custom_sections ?? false }),
    ...(body.purchase_order_number === undefined
      ? {}
      : { purchase_order_number: body.purchase_order_number?.trim() || null }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
  });
  await chooseSections(ctx, { type: 'wallet', id: wallet.id }, body.invoice_custom_section);
  if (body.recurring_transaction_rules !== undefined) await replaceRules(ctx, wallet, stored, rules as ReadRule[]);
  await markWallets(ctx, wallet.customer_id);
  return { wallet: await shownWallet(ctx, await recordWallet(ctx, 'wallet.updated', wallet.id, before)) };
}

async function replaceRules(ctx: Context, wallet: WalletRow, stored: readonly RuleRow[], rules: ReadRule[]) {
  const [rule] = rules;
  await terminateRules(ctx, wallet.id, { now: ctx.now(), keptId: rule?.id ?? null });
  if (rule)
    await storeRule(
      ctx,
      wallet,
      rule,
      stored.find(({ id }) => id === rule.id),
    );
}

/** Fields of the input, each falling back to its stored value. */
const given = (value: number | null | undefined, former: number | null): number | null =>
  value === undefined ? former : value;
