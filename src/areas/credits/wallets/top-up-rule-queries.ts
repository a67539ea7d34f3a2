import type { Temporal } from 'temporal-polyfill';
import type { TopUpInterval } from '../../../engine/credits/wallet-interval.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { PaymentMethodId, WalletId } from '../../../platform/ids.ts';
import { type SelectedSectionJson, selectedSections } from '../../customers/invoice-custom-sections/queries.ts';

export interface MetadataPair {
  key: string;
  value: string;
}

/** What a rule says, as it is stored. Rule: top-ups.md#recurring-rules. */
export interface RuleFields {
  trigger: 'interval' | 'threshold';
  method: 'fixed' | 'target';
  interval: TopUpInterval | null;
  threshold_credits: Decimal;
  paid_credits: Decimal;
  granted_credits: Decimal;
  target_ongoing_balance: Decimal | null;
  grants_target_top_up: boolean;
  started_at: Temporal.Instant | null;
  expiration_at: Temporal.Instant | null;
  invoice_requires_successful_payment: boolean;
  ignore_paid_top_up_limits: boolean;
  transaction_name: string | null;
  transaction_metadata: MetadataPair[];
  payment_method_type: 'provider' | 'manual' | null;
  payment_method_id: PaymentMethodId | null;
  purchase_order_number: string | null;
  /** Null leaves it to the wallet. */
  skip_invoice_custom_sections: boolean | null;
}

/** A rule that tops a wallet up. */
export interface RuleRow extends RuleFields {
  id: string;
  wallet_id: WalletId;
  status: 'active' | 'terminated';
  next_top_up_on: Temporal.PlainDate | null;
  created_at: Temporal.Instant;
  custom_sections: SelectedSectionJson[];
}

/** Active rules of some wallets. */
export const listRules = ({ db, organizationId }: Scope, walletIds: readonly WalletId[]) => db<RuleRow[]>`
  select id, wallet_id, status, trigger, method, interval, threshold_credits, paid_credits, granted_credits,
    target_ongoing_balance, grants_target_top_up, started_at, expiration_at, invoice_requires_successful_payment,
    ignore_paid_top_up_limits, transaction_name, transaction_metadata, payment_method_type, payment_method_id,
    purchase_order_number, skip_invoice_custom_sections, next_top_up_on, created_at,
    ${selectedSections(db, 'recurring_transaction_rule', { organizationId: db`rule.organization_id`, ownerId: db`rule.id` })} as custom_sections
  from recurring_transaction_rules rule
  where organization_id = ${organizationId} and wallet_id = any (${walletIds}::uuid[]) and status = 'active'`;

/** Stores a rule, or what it now says when it is one that is stored. */
export const putRule = (
  { db, organizationId }: Scope,
  rule: RuleFields & { id: string; wallet_id: WalletId; next_top_up_on: Temporal.PlainDate | null },
  now: Temporal.Instant,
) => db`
  insert into recurring_transaction_rules (id, organization_id, wallet_id, status, trigger, method, interval,
    threshold_credits, paid_credits, granted_credits, target_ongoing_balance, grants_target_top_up, started_at,
    expiration_at, invoice_requires_successful_payment, ignore_paid_top_up_limits, transaction_name,
    transaction_metadata, payment_method_type, payment_method_id, purchase_order_number, skip_invoice_custom_sections,
    next_top_up_on, created_at, updated_at)
  values (${rule.id}, ${organizationId}, ${rule.wallet_id}, 'active', ${rule.trigger}, ${rule.method}, ${rule.interval},
    ${rule.threshold_credits}, ${rule.paid_credits}, ${rule.granted_credits}, ${rule.target_ongoing_balance},
    ${rule.grants_target_top_up}, ${rule.started_at}, ${rule.expiration_at},
    ${rule.invoice_requires_successful_payment}, ${rule.ignore_paid_top_up_limits}, ${rule.transaction_name},
    ${json(rule.transaction_metadata)}, ${rule.payment_method_type}, ${rule.payment_method_id},
    ${rule.purchase_order_number},
    ${rule.skip_invoice_custom_sections}, ${rule.next_top_up_on}, ${now}, ${now})
  on conflict (id) do update set trigger = excluded.trigger, method = excluded.method, interval = excluded.interval,
    threshold_credits = excluded.threshold_credits, paid_credits = excluded.paid_credits,
    granted_credits = excluded.granted_credits, target_ongoing_balance = excluded.target_ongoing_balance,
    grants_target_top_up = excluded.grants_target_top_up, started_at = excluded.started_at,
    expiration_at = excluded.expiration_at,
    invoice_requires_successful_payment = excluded.invoice_requires_successful_payment,
    ignore_paid_top_up_limits = excluded.ignore_paid_top_up_limits, transaction_name = excluded.transaction_name,
    transaction_metadata = excluded.transaction_metadata, payment_method_type = excluded.payment_method_type,
    payment_method_id = excluded.payment_method_id,
    purchase_order_number = excluded.purchase_order_number,
    skip_invoice_custom_sections = excluded.skip_invoice_custom_sections, next_top_up_on = excluded.next_top_up_on,
    updated_at = excluded.updated_at`;

/** Ends the active rules of a wallet, one that is kept apart. */
export const terminateRules = (
  { db, organizationId }: Scope,
  walletId: WalletId,
  { now, keptId = null }: { now: Temporal.Instant; keptId?: string | null },
) => db`
  update recurring_transaction_rules set status = 'terminated', terminated_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and wallet_id = ${walletId} and status = 'active'
    and id is distinct from ${keptId}::uuid`;

/** The day on which an interval rule adds credits next. */
export const planTopUp = ({ db, organizationId }: Scope, ruleId: string, day: Temporal.PlainDate) => db`
  update recurring_transaction_rules set next_top_up_on = ${day}
  where organization_id = ${organizationId} and id = ${ruleId}`;
