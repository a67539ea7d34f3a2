import type { Temporal } from 'temporal-polyfill';
import type { BillingTime, Interval } from '../../../engine/calendar/grid.ts';
import type { SwitchKind } from '../../../engine/calendar/terms.ts';
import type { SubscriptionStatus } from '../../../engine/subscriptions/subscription-states.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CustomerId,
  ExternalCustomerId,
  InvoiceId,
  PaymentMethodId,
  PlanId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';
import { type SelectedSectionJson, selectedSections } from '../../customers/invoice-custom-sections/queries.ts';
import { type ActivationRuleJson, activationRules } from './activation-rules.ts';

export type CreditNoteOnTermination = 'credit' | 'refund' | 'offset' | 'skip';
export type InvoiceOnTermination = 'generate' | 'skip';

export interface SubscriptionRow {
  id: SubscriptionId;
  customer_id: CustomerId;
  plan_id: PlanId;
  previous_subscription_id: SubscriptionId | null;
  /** For a record that follows another: the kind of plan change when it was requested. */
  switch_kind: SwitchKind | null;
  billing_entity_id: BillingEntityId | null;
  external_id: string;
  name: string | null;
  status: SubscriptionStatus;
  billing_time: BillingTime;
  subscription_at: Temporal.Instant;
  started_at: Temporal.Instant | null;
  activated_at: Temporal.Instant | null;
  ending_at: Temporal.Instant | null;
  terminated_at: Temporal.Instant | null;
  canceled_at: Temporal.Instant | null;
  cancellation_reason: 'payment_failed' | 'timeout' | null;
  trial_ended_at: Temporal.Instant | null;
  on_termination_credit_note: CreditNoteOnTermination | null;
  on_termination_invoice: InvoiceOnTermination;
  consolidate_invoice: boolean;
  progressive_billing_disabled: boolean;
  skip_invoice_custom_sections: boolean;
  purchase_order_number: string | null;
  /** What electronic documents name for the buyer (BT-10). */
  buyer_reference: string | null;
  payment_method_type: 'provider' | 'manual' | null;
  payment_method_id: PaymentMethodId | null;
  next_billing_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

/** A subscription with the fields of its customer, plan and neighbours that its JSON shows. */
export interface SubscriptionShown extends SubscriptionRow {
  external_customer_id: ExternalCustomerId;
  /** Applicable zone of the customer. */
  zone: string;
  billing_entity_code: string;
  plan_code: string;
  plan_name: string;
  plan_invoice_display_name: string | null;
  plan_amount_cents: number;
  plan_amount_currency: string;
  interval: Interval;
  pay_in_advance: boolean;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
  previous_plan_code: string | null;
  next_plan_code: string | null;
  next_status: SubscriptionStatus | null;
  next_started_at: Temporal.Instant | null;
  next_switch_kind: SwitchKind | null;
  /** Whether its usage begins at the instant at which another record of the external id ended. */
  is_heir: boolean;
  /** Custom sections of its own, in the order in which they were selected. */
  custom_sections: SelectedSectionJson[];
  /** Its activation rules. */
  activation_rules: ActivationRuleJson[];
  /** Usage thresholds of its own, in the order in which the API shows them. */
  own_thresholds: { threshold_display_name: string | null; amount_cents: number; recurring: boolean }[];
}

export const columns = (db: Db) => db`
  s.id, s.customer_id, s.plan_id, s.previous_subscription_id, s.switch_kind, s.billing_entity_id, s.external_id, s.name,
    s.status,
  s.billing_time, s.subscription_at, s.started_at, s.activated_at, s.ending_at, s.terminated_at, s.canceled_at,
  s.cancellation_reason, s.trial_ended_at, s.on_termination_credit_note, s.on_termination_invoice,
  s.consolidate_invoice, s.progressive_billing_disabled, s.skip_invoice_custom_sections, s.purchase_order_number,
  s.buyer_reference, s.payment_method_type, s.payment_method_id, s.next_billing_at, s.created_at, s.updated_at`;

/** The instant from which usage belongs to a record, as `usageStartOf` returns it. */
export const usageStart = (db: Db, alias: 's' | 'record') => db`
  case when ${db(`${alias}.previous_subscription_id`)} is null then ${db(`${alias}.started_at`)}
    else greatest(${db(`${alias}.started_at`)}, ${db(`${alias}.activated_at`)}) end`;

const shownColumns = (db: Db) => db`
  ${columns(db)}, customer.external_id as external_customer_id,
  coalesce(customer.timezone, home.timezone) as zone, coalesce(entity.code, home.code) as billing_entity_code,
  plan.code as plan_code, plan.name as plan_name, plan.invoice_display_name as plan_invoice_display_name,
  plan.amount_cents as plan_amount_cents, plan.amount_currency as plan_amount_currency,
  plan.interval, plan.pay_in_advance, plan.bill_charges_monthly, plan.bill_fixed_charges_monthly,
  (select former_plan.code from subscriptions former
   join plans former_plan on former_plan.organization_id = s.organization_id and former_plan.id = former.plan_id
   where former.organization_id = s.organization_id and former.id = s.previous_subscription_id) as previous_plan_code,
  next.code as next_plan_code, next.status as next_status, next.started_at as next_started_at,
  next.switch_kind as next_switch_kind,
  exists (select from subscriptions record
    where record.organization_id = s.organization_id and record.external_id = s.external_id and record.id <> s.id
      and record.terminated_at = ${usageStart(db, 's')}) as is_heir,
  (select coalesce(jsonb_agg(jsonb_build_object('threshold_display_name', threshold.threshold_display_name,
     'amount_cents', threshold.amount_cents, 'recurring', threshold.recurring)
     order by threshold.recurring, threshold.amount_cents), '[]')
   from usage_thresholds threshold
   where threshold.organization_id = s.organization_id and threshold.subscription_id = s.id
     and threshold.deleted_at is null) as own_thresholds,
  ${selectedSections(db, 'subscription', { organizationId: db`s.organization_id`, ownerId: db`s.id` })} as custom_sections,
  ${activationRules(db)} as activation_rules`;

const ownTables = (db: Db, subscriptions = db`subscriptions`) => db`
  ${subscriptions} s
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
  join billing_entities home on home.organization_id = s.organization_id and home.id = customer.billing_entity_id
  left join billing_entities entity on entity.organization_id = s.organization_id and entity.id = s.billing_entity_id
  join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id`;

const shownTables = (db: Db, subscriptions?: Fragment) => db`
  ${ownTables(db, subscriptions)}
  left join lateral (
    select next_plan.code, successor.switch_kind, successor.status, successor.started_at
    from subscriptions successor
    join plans next_plan on next_plan.organization_id = s.organization_id and next_plan.id = successor.plan_id
    where successor.organization_id = s.organization_id and successor.previous_subscription_id = s.id
      and successor.status <> 'canceled'
    order by successor.created_at desc, successor.id desc
    limit 1
  ) next on true`;

/**
 * Looked up by their keys alone. Beside its other tables Postgres would read all subscriptions of an organization that
 * has a few hundred, and all its customers for each of them.
 */
const byKeys = (db: Db, ids: Fragment) => db`(select * from subscriptions where id = any (${ids}) offset 0)`;

/** Subscriptions by id, in no particular order. */
export const listShown = ({ db, organizationId }: Scope, ids: readonly SubscriptionId[]) => db<SubscriptionShown[]>`
  select ${shownColumns(db)} from ${shownTables(db, byKeys(db, db`${ids}::uuid[]`))}
  where s.organization_id = ${organizationId}`;

/** Subscriptions that an invoice bills, in no particular order. */
export const listShownOfInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<SubscriptionShown[]>`
  select ${shownColumns(db)} from ${shownTables(
    db,
    byKeys(
      db,
      db`array(
        select subscription_id from invoice_subscriptions
        where organization_id = ${organizationId} and invoice_id = ${invoiceId})`,
    ),
  )}
  where s.organization_id = ${organizationId}`;

export async function getShown(scope: Scope, id: SubscriptionId): Promise<SubscriptionShown> {
  const [row] = await listShown(scope, [id]);
  if (!row) throw refuse.notFound('subscription');
  return row;
}

/**
 * The record of an external id that reads show: with the given status, records that have not ended first, then latest
 * ended, then latest started. Rule: subscriptions.md#external-id.
 */
export async function findShownByExternalId(
  { db, organizationId }: Scope,
  externalId: string,
  status: SubscriptionStatus,
): Promise<SubscriptionShown | undefined> {
  const [row] = await db<SubscriptionShown[]>`
    select ${shownColumns(db)} from ${shownTables(db)}
    where s.organization_id = ${organizationId} and s.external_id = ${externalId} and s.status = ${status}
    order by s.terminated_at desc nulls first, s.started_at desc nulls last, s.id desc
    limit 1`;
  return row;
}

/** The active record of a customer's external id. */
export async function findActiveOfCustomer(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  externalId: string,
): Promise<SubscriptionShown | undefined> {
  const [row] = await db<SubscriptionShown[]>`
    select ${shownColumns(db)} from ${shownTables(db)}
    where s.organization_id = ${organizationId} and s.external_id = ${externalId} and s.customer_id = ${customerId}
      and s.status = 'active'`;
  return row;
}

export interface SubscriptionFilters {
  external_customer_id?: ExternalCustomerId | undefined;
  external_id?: string | undefined;
  plan_code?: string | undefined;
  /** Undefined: of every status. */
  statuses?: readonly SubscriptionStatus[] | undefined;
  overridden?: boolean | undefined;
  currency?: string | undefined;
  /** Part of the external id or the name. */
  search_term?: string | undefined;
  /** Codes of the effective billing entity. */
  billing_entity_codes?: readonly string[] | undefined;
}

const matching = ({ db, organizationId }: Scope, filters: SubscriptionFilters) => db`
  s.organization_id = ${organizationId}
  ${filters.external_customer_id === undefined ? db`` : db`and s.customer_id = ${liveCustomerId({ db, organizationId }, filters.external_customer_id)}`}
  ${filters.external_id === undefined ? db`` : db`and s.external_id = ${filters.external_id}`}
  ${filters.plan_code === undefined ? db`` : db`and plan.code = ${filters.plan_code}`}
  ${filters.statuses === undefined ? db`` : db`and s.status = any (${filters.statuses})`}
  ${
    filters.search_term === undefined
      ? db``
      : db`and (s.external_id ilike ${containsPattern(filters.search_term)}
    or s.name ilike ${containsPattern(filters.search_term)})`
  }
  ${filters.overridden === undefined ? db`` : db`and (plan.parent_id is not null) = ${filters.overridden}`}
  ${filters.currency === undefined ? db`` : db`and plan.amount_currency = ${filters.currency}`}
  ${
    filters.billing_entity_codes === undefined
      ? db``
      : db`and coalesce(entity.code,
    home.code) = any (${filters.billing_entity_codes})`
  }`;

/**
 * A page of subscriptions, newest `subscription_at` first; with `endedLast` running ones first. What is read beside a
 * subscription is read for those of the page only.
 * Rule: subscriptions.md#list-filters.
 */
export const listSubscriptionsShown = (
  { db, organizationId }: Scope,
  filters: SubscriptionFilters,
  page: { limit: number; offset: number; endedLast?: true },
) => db<SubscriptionShown[]>`
  select ${shownColumns(db)} from ${shownTables(db)}
  where s.organization_id = ${organizationId} and s.id in (
    select s.id from ${listedTables(db, filters)}
    where ${matching({ db, organizationId }, filters)}
    order by ${inOrder(db, page)}
    limit ${page.limit} offset ${page.offset})
  order by ${inOrder(db, page)}`;

/**
 * What the filters look at. Without one of a plan or an entity no table is joined: Postgres would take a page of a
 * large organization for one row, which it finds by sorting all.
 */
const listedTables = (db: Db, { plan_code, overridden, currency, billing_entity_codes: codes }: SubscriptionFilters) =>
  [plan_code, overridden, currency, codes].every((filter) => filter === undefined)
    ? db`subscriptions s`
    : ownTables(db);

const inOrder = (db: Db, { endedLast }: { endedLast?: true }) => db`
  ${endedLast ? db`s.status = 'terminated',` : db``} s.subscription_at desc nulls last, s.created_at desc, s.id desc`;

export const countSubscriptions = (scope: Scope, filters: SubscriptionFilters): Promise<Total> =>
  countRecords(scope.db, scope.db`${listedTables(scope.db, filters)} where ${matching(scope, filters)}`);
