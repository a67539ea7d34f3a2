import type { Temporal } from 'temporal-polyfill';
import type { BillingTime, Interval } from '../../../../engine/calendar/grid.ts';
import type { AggregationType } from '../../../../engine/metrics/aggregation-types.ts';
import type { FilterValues } from '../../../../engine/metrics/choose-filter.ts';
import { isoText } from '../../../../platform/db/iso-text.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { ChargeId, ExternalCustomerId, MetricId, PlanId } from '../../../../platform/ids.ts';
import type { CandidateSubscription } from '../../match-events/match-event.ts';

/** A subscription of an explained event, with the terms of its periods. */
export interface ExplainedSubscription extends CandidateSubscription {
  external_customer_id: ExternalCustomerId;
  plan_code: string;
  zone: string;
  billing_time: BillingTime;
  subscription_at: Temporal.Instant;
  starts_at: Temporal.Instant | null;
  ends_at: Temporal.Instant | null;
  interval: Interval;
  pay_in_advance: boolean;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
  /** Codes of the customer's active wallets. */
  wallet_codes: string[];
  /** Half-open charges windows near the events whose usage final invoices have billed, as ISO texts. */
  invoiced: [from: string, to: string][];
}

/**
 * Subscriptions of external ids.
 *
 * from, to  first and last timestamp of the events: invoiced windows that hold none of them are left out
 */
export const listExplainedSubscriptions = (
  { db, organizationId }: Scope,
  externalIds: readonly string[],
  span: { from: string; to: string },
) => db<ExplainedSubscription[]>`
  select s.id, s.organization_id, s.external_id, s.plan_id, s.status,
    ${isoText(db, db`s.started_at`)} as started_at,
    ${isoText(db, db`s.terminated_at`)} as terminated_at,
    s.previous_subscription_id is not null as replaces_another,
    customer.external_id as external_customer_id, plan.code as plan_code, coalesce(customer.timezone,
    home.timezone) as zone,
    s.billing_time, s.subscription_at, s.started_at as starts_at, s.terminated_at as ends_at,
    plan.interval, plan.pay_in_advance, plan.bill_charges_monthly, plan.bill_fixed_charges_monthly,
    array(select wallet.code from wallets wallet
      where wallet.organization_id = s.organization_id and wallet.customer_id = s.customer_id
        and wallet.status = 'active') as wallet_codes,
    coalesce((
      select jsonb_agg(jsonb_build_array(${isoText(db, db`line.charges_from_datetime`)},
        ${isoText(db, db`line.charges_to_datetime`)}))
      from invoice_subscriptions line
      join invoices i on i.organization_id = line.organization_id and i.id = line.invoice_id
        and i.status in ('finalized', 'closed') and not i.skip_usage
      where line.organization_id = s.organization_id and line.subscription_id = s.id
        and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating')
        and line.charges_from_datetime <= ${span.to} and line.charges_to_datetime > ${span.from}
    ), '[]') as invoiced
  from subscriptions s
  join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
  join billing_entities home on home.organization_id = s.organization_id and home.id = customer.billing_entity_id
  where s.organization_id = ${organizationId} and s.external_id = any (${externalIds})`;

/** A live metric of an explained event, with the live charges on it of the subscriptions' plans. */
export interface ExplainedMetric {
  id: MetricId;
  code: string;
  aggregation_type: AggregationType;
  field_name: string | null;
  recurring: boolean;
  has_expression: boolean;
  declared: { key: string; values: string[] }[];
  charges: ExplainedCharge[];
}

export interface GroupProperties {
  pricing_group_keys?: string[] | null;
  grouped_by?: string[] | null;
}

export interface ExplainedCharge {
  id: ChargeId;
  plan_id: PlanId;
  code: string;
  charge_model: string;
  pay_in_advance: boolean;
  accepts_target_wallet: boolean;
  properties: GroupProperties;
  filters: {
    id: string;
    invoice_display_name: string | null;
    values: FilterValues;
    properties: GroupProperties;
    created_at: string;
  }[];
}

/** Live metrics by code, with their live charges on the plans of the subscriptions of external ids. */
export const listExplainedMetrics = (
  { db, organizationId }: Scope,
  codes: readonly string[],
  externalIds: readonly string[],
) => db<ExplainedMetric[]>`
  select m.id, m.code, m.aggregation_type, m.field_name, m.recurring, m.expression is not null as has_expression,
    coalesce((
      select jsonb_agg(jsonb_build_object('key', declared.key, 'values', declared."values"))
      from billable_metric_filters declared
      where declared.organization_id = m.organization_id and declared.billable_metric_id = m.id
    ), '[]') as declared,
    coalesce((
      select jsonb_agg(jsonb_build_object('id', charge.id, 'plan_id', charge.plan_id, 'code', charge.code,
        'charge_model', charge.charge_model, 'pay_in_advance', charge.pay_in_advance,
        'accepts_target_wallet', charge.accepts_target_wallet, 'properties', charge.properties,
        'filters', coalesce((
          select jsonb_agg(jsonb_build_object('id', filter.id, 'invoice_display_name', filter.invoice_display_name,
            'values', filter."values", 'properties', filter.properties, 'created_at', filter.created_at))
          from charge_filters filter
          where filter.organization_id = charge.organization_id and filter.charge_id = charge.id
            and filter.deleted_at is null
        ), '[]')) order by charge.created_at, charge.id)
      from charges charge
      where charge.organization_id = m.organization_id and charge.billable_metric_id = m.id
        and charge.deleted_at is null
        and charge.plan_id in (
          select s.plan_id from subscriptions s
          where s.organization_id = m.organization_id and s.external_id = any (${externalIds}))
    ), '[]') as charges
  from billable_metrics m
  where m.organization_id = ${organizationId} and m.code = any (${codes}) and m.deleted_at is null`;
