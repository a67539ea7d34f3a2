import type { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { UsageThresholdId } from '../../../platform/ids.ts';

/** What identifies a chain of subscriptions: a plan change keeps both. */
export interface Chain {
  external_id: string;
  subscription_at: Temporal.Instant;
}

/** The stored parts of lifetime usage. The record of a chain has the id of its first subscription. */
export interface LifetimeParts {
  id: string;
  historical_cents: Cents;
  /** Usage fees on draft and final subscription invoices of all subscriptions of the chain that were not canceled. */
  invoiced_cents: Cents;
  /** Thresholds that progressive invoices billed, oldest first. */
  applied: AppliedThreshold[];
}

export interface AppliedThreshold {
  usage_threshold_id: UsageThresholdId;
  lifetime_usage_amount_cents: number;
  /** ISO text. */
  created_at: string;
}

/** One statement. Rule: usage-reads.md#lifetime-usage "historical", "invoiced". */
export async function readLifetimeParts(
  { db, organizationId }: Scope,
  { external_id, subscription_at }: Chain,
): Promise<LifetimeParts> {
  const [row] = await db<LifetimeParts[]>`
    with chain as materialized (
      select s.id, s.created_at from subscriptions s
      where s.organization_id = ${organizationId} and s.external_id = ${external_id}
        and s.subscription_at = ${subscription_at} and s.status <> 'canceled'
    )
    select (select id from chain order by created_at, id limit 1) as id,
      coalesce((
        select historical_usage_amount_cents from lifetime_usages
        where organization_id = ${organizationId} and external_subscription_id = ${external_id}
          and subscription_at = ${subscription_at}
      ), 0) as historical_cents,
      coalesce((
        select sum(fee.amount_cents)
        from chain
        join fees fee on fee.organization_id = ${organizationId} and fee.subscription_id = chain.id
          and fee.fee_type = 'charge' and fee.deleted_at is null
        join invoices invoice on invoice.organization_id = ${organizationId} and invoice.id = fee.invoice_id
          and invoice.invoice_type = 'subscription' and invoice.status in ('draft', 'finalized')
      ), 0)::bigint as invoiced_cents,
      coalesce((
        select jsonb_agg(jsonb_build_object('usage_threshold_id', applied.usage_threshold_id,
          'lifetime_usage_amount_cents', applied.lifetime_usage_amount_cents, 'created_at', applied.created_at)
          order by applied.created_at, applied.id)
        from chain
        join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = chain.id
        join applied_usage_thresholds applied on applied.organization_id = ${organizationId}
          and applied.invoice_id = line.invoice_id
      ), '[]') as applied`;
  return row!;
}

export const putHistoricalUsage = (
  { db, organizationId }: Scope,
  chain: Chain,
  { historicalCents, now }: { historicalCents: number; now: Temporal.Instant },
) => db`
  insert into lifetime_usages (organization_id, external_subscription_id, subscription_at,
    historical_usage_amount_cents,
    created_at, updated_at)
  values (${organizationId}, ${chain.external_id}, ${chain.subscription_at}, ${historicalCents}, ${now}, ${now})
  on conflict (organization_id, external_subscription_id, subscription_at) do update set
    historical_usage_amount_cents = excluded.historical_usage_amount_cents, updated_at = excluded.updated_at`;
