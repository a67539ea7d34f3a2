import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, DunningCampaignId } from '../../../platform/ids.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { CampaignsQuery } from './schema.ts';

export interface CampaignRow {
  id: DunningCampaignId;
  code: string;
  name: string;
  description: string | null;
  days_between_attempts: number;
  max_attempts: number;
  bcc_emails: string[];
  thresholds: { svc_id: string; amount_cents: number; currency: string }[];
  /** Whether the default billing entity uses it. */
  applied_to_organization: boolean;
  customers_count: number;
  billing_entity_codes: string[];
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  campaign.id, campaign.code, campaign.name, campaign.description, campaign.days_between_attempts,
  campaign.max_attempts, campaign.bcc_emails, campaign.created_at, campaign.updated_at,
  (select coalesce(json_agg(json_build_object('svc_id', threshold.id, 'amount_cents', threshold.amount_cents,
     'currency', threshold.currency) order by threshold.currency), '[]')
   from dunning_campaign_thresholds threshold
   where threshold.organization_id = campaign.organization_id
     and threshold.dunning_campaign_id = campaign.id) as thresholds,
  (select count(*) from customers customer where customer.organization_id = campaign.organization_id
     and customer.dunning_campaign_id = campaign.id and customer.deleted_at is null) as customers_count,
  (select coalesce(array_agg(entity.code order by entity.code), '{}') from billing_entities entity
   where entity.organization_id = campaign.organization_id
     and entity.dunning_campaign_id = campaign.id) as billing_entity_codes,
  ${isApplied(db)} as applied_to_organization`;

// The default billing entity is the oldest live one.
const isApplied = (db: Db) => db`
  campaign.id is not distinct from (select entity.dunning_campaign_id from billing_entities entity
    where entity.organization_id = campaign.organization_id and entity.deleted_at is null
    order by entity.created_at, entity.id limit 1)`;

export async function findCampaign({ db, organizationId }: Scope, code: string): Promise<CampaignRow | undefined> {
  const [row] = await db<CampaignRow[]>`
    select ${columns(db)} from dunning_campaigns campaign
    where campaign.organization_id = ${organizationId} and campaign.code = ${code} and campaign.deleted_at is null`;
  return row;
}

/** @throws Refusal 404 dunning_campaign */
export async function getCampaign(scope: Scope, code: string): Promise<CampaignRow> {
  const row = await findCampaign(scope, code);
  if (!row) throw refuse.notFound('dunning_campaign');
  return row;
}

/** A page of campaigns by name, and how many there are. Rule: payment-requests.md#dunning-campaigns. */
export async function listCampaigns(
  { db, organizationId }: Scope,
  query: CampaignsQuery,
): Promise<{ rows: CampaignRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(query);
  const { search_term: term, applied_to_organization: applied } = query;
  const passing = db`campaign.organization_id = ${organizationId} and campaign.deleted_at is null
    ${term === undefined ? db`` : db`and (campaign.name ilike ${containsPattern(term)} or campaign.code ilike ${containsPattern(term)})`}
    ${applied === undefined ? db`` : db`and (${isApplied(db)}) = ${applied}`}`;
  const [rows, [count]] = await Promise.all([
    db<CampaignRow[]>`
      select ${columns(db)} from dunning_campaigns campaign where ${passing}
      order by campaign.name, campaign.id limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from dunning_campaigns campaign where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** The state of a customer's dunning, by currency of its campaign. */
export interface DunningStateRow {
  campaign_id: DunningCampaignId | null;
  campaign_code: string | null;
  source: 'customer' | 'billing_entity' | null;
  excluded: boolean;
  last_attempt_at: Temporal.Instant | null;
  next_attempt_after: Temporal.Instant | null;
  currencies: {
    currency: string;
    overdue_cents: number;
    threshold_cents: number;
    attempts: number;
    max_attempts: number;
  }[];
}

/**
 * The overdue balance that a campaign counts: totals of overdue invoices that are not self-billed.
 * Rule: payment-requests.md#dunning.
 */
const overdueOf = (db: Db) => db`
  (select coalesce(sum(invoice.total_amount_cents), 0)::bigint from invoices invoice
   where invoice.organization_id = customer.organization_id and invoice.customer_id = customer.id
     and invoice.payment_overdue and not invoice.self_billed and invoice.currency = threshold.currency)`;

/** The dunning of a live customer of ours. */
export async function readDunningState(
  { db, organizationId }: Scope,
  customerId: CustomerId,
): Promise<DunningStateRow> {
  const [row] = await db<DunningStateRow[]>`
    select campaign.id as campaign_id, campaign.code as campaign_code,
      case when campaign.id is null then null when customer.dunning_campaign_id is not null then 'customer'
        else 'billing_entity' end as source,
      customer.exclude_from_dunning or customer.account_type = 'partner' as excluded,
      customer.last_dunning_attempt_at as last_attempt_at,
      customer.last_dunning_attempt_at + make_interval(days => campaign.days_between_attempts) as next_attempt_after,
      (select coalesce(json_agg(json_build_object('currency', threshold.currency, 'overdue_cents', ${overdueOf(db)},
         'threshold_cents', threshold.amount_cents, 'attempts', coalesce(counter.attempts, 0),
         'max_attempts', campaign.max_attempts) order by threshold.currency), '[]')
       from dunning_campaign_thresholds threshold
       left join customer_dunning_counters counter on counter.organization_id = threshold.organization_id
         and counter.customer_id = customer.id and counter.currency = threshold.currency
       where threshold.organization_id = customer.organization_id
         and threshold.dunning_campaign_id = campaign.id) as currencies
    from customers customer
    join billing_entities entity
      on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
    left join dunning_campaigns campaign on campaign.organization_id = customer.organization_id
      and campaign.id = coalesce(customer.dunning_campaign_id, entity.dunning_campaign_id)
      and campaign.deleted_at is null
    where customer.organization_id = ${organizationId} and customer.id = ${customerId}`;
  return row!;
}
