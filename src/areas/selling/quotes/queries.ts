import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { OrderType, QuoteVersionStatus, QuoteVersionVoidReason } from '../../../engine/quotes/quote-states.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CustomerId,
  ExternalCustomerId,
  OrganizationId,
  QuoteId,
  QuoteVersionId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords } from '../../../platform/lists/count.ts';
import { type Counted, limitOf, type Page, pageOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { BillingItems } from './billing-items/item-types.ts';
import type { QuotesQuery } from './schema.ts';

export interface QuoteOwner {
  svc_id: string;
  email: string;
}

export interface QuoteRow {
  id: QuoteId;
  organization_id: OrganizationId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  subscription_id: SubscriptionId | null;
  number: string;
  order_type: OrderType;
  owners: QuoteOwner[];
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

export interface QuoteVersionRow {
  id: QuoteVersionId;
  organization_id: OrganizationId;
  quote_id: QuoteId;
  version: number;
  status: QuoteVersionStatus;
  void_reason: QuoteVersionVoidReason | null;
  currency: Currency | null;
  /** The effective one: its own, else the target subscription's, else the customer's. */
  billing_entity_code: string;
  own_billing_entity_code: string | null;
  content: string | null;
  billing_items: BillingItems | null;
  approved_at: Temporal.Instant | null;
  voided_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const quoteColumns = (db: Db) => db`
  quote.id, quote.organization_id, quote.customer_id, customer.external_id as external_customer_id,
  quote.subscription_id, quote.number, quote.order_type, quote.created_at, quote.updated_at,
  (select coalesce(jsonb_agg(jsonb_build_object('svc_id', owner.id, 'email', owner.email) order by held.position), '[]')
   from quote_owners held
   join owners owner on owner.organization_id = held.organization_id and owner.id = held.owner_id
   where held.organization_id = quote.organization_id and held.quote_id = quote.id) as owners`;

const quoteTables = (db: Db) => db`
  quotes quote
  join customers customer on customer.organization_id = quote.organization_id and customer.id = quote.customer_id`;

const versionColumns = (db: Db) => db`
  version.id, version.organization_id, version.quote_id, version.version, version.status, version.void_reason,
  version.currency, version.billing_entity_code as own_billing_entity_code, version.content, version.billing_items,
  version.approved_at, version.voided_at, version.created_at, version.updated_at,
  coalesce(version.billing_entity_code, target_entity.code, entity.code) as billing_entity_code`;

const versionTables = (db: Db) => db`
  quote_versions version
  join quotes quote on quote.organization_id = version.organization_id and quote.id = version.quote_id
  join customers customer on customer.organization_id = quote.organization_id and customer.id = quote.customer_id
  join billing_entities entity
    on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
  left join subscriptions target
    on target.organization_id = quote.organization_id and target.id = quote.subscription_id
  left join billing_entities target_entity
    on target_entity.organization_id = target.organization_id and target_entity.id = target.billing_entity_id`;

/** @throws Refusal 404 quote */
export async function getQuote({ db, organizationId }: Scope, id: QuoteId): Promise<QuoteRow> {
  const [row] = isUuid(id)
    ? await db<QuoteRow[]>`
      select ${quoteColumns(db)} from ${quoteTables(db)}
      where quote.organization_id = ${organizationId} and quote.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('quote');
  return row;
}

/** @throws Refusal 404 quote_version */
export async function getQuoteVersion({ db, organizationId }: Scope, id: QuoteVersionId): Promise<QuoteVersionRow> {
  const [row] = isUuid(id)
    ? await db<QuoteVersionRow[]>`
      select ${versionColumns(db)} from ${versionTables(db)}
      where version.organization_id = ${organizationId} and version.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('quote_version');
  return row;
}

/** The current version of a quote: the one with the highest number. Rule: quotes.md#lifecycle. */
export const listCurrentVersions = ({ db, organizationId }: Scope, quoteIds: readonly QuoteId[]) => db<
  QuoteVersionRow[]
>`
  select distinct on (version.quote_id) ${versionColumns(db)} from ${versionTables(db)}
  where version.organization_id = ${organizationId} and version.quote_id = any (${quoteIds}::uuid[])
  order by version.quote_id, version.version desc`;

/** The live version of a quote: a draft or an approved one; every other is voided. */
export async function findLivingVersion(
  { db, organizationId }: Scope,
  quoteId: QuoteId,
): Promise<QuoteVersionRow | undefined> {
  const [row] = await db<QuoteVersionRow[]>`
    select ${versionColumns(db)} from ${versionTables(db)}
    where version.organization_id = ${organizationId} and version.quote_id = ${quoteId}
      and version.status in ('draft', 'approved')`;
  return row;
}

/** A page of a quote's versions, newest first, and how many there are. */
export async function listVersions(
  { db, organizationId }: Scope,
  quoteId: QuoteId,
  page: Page,
): Promise<{ rows: QuoteVersionRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<QuoteVersionRow[]>`
      select ${versionColumns(db)} from ${versionTables(db)}
      where version.organization_id = ${organizationId} and version.quote_id = ${quoteId}
      order by version.version desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from quote_versions
      where organization_id = ${organizationId} and quote_id = ${quoteId}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** A page of quotes, newest first, and how many there are. Rule: lists.md#filters-and-order. */
export async function listQuotes(
  { db, organizationId }: Scope,
  query: QuotesQuery,
): Promise<{ rows: readonly QuoteRow[]; total: Counted }> {
  const { limit, offset } = limitOf(query);
  const passing = db`quote.organization_id = ${organizationId}
    ${query.order_type ? db`and quote.order_type = any (${query.order_type})` : db``}
    ${query.number ? db`and quote.number = any (${query.number})` : db``}
    ${
      query.external_customer_id
        ? db`and quote.customer_id = any (array(
          select id from customers where organization_id = ${organizationId}
            and external_id = any (${query.external_customer_id}) and deleted_at is null))`
        : db``
    }
    ${query.from_date ? db`and quote.created_at >= ${query.from_date}` : db``}
    ${query.to_date ? db`and quote.created_at < ${query.to_date}` : db``}
    ${query.status ? db`and ${currentStatus(db)} = any (${query.status})` : db``}
    ${query.owner_id ? db`and ${isOwned(db, query.owner_id)}` : db``}`;
  return pageOf(query, {
    rows: () => db<QuoteRow[]>`
      select ${quoteColumns(db)} from ${quoteTables(db)} where ${passing}
      order by quote.created_at desc, quote.id desc limit ${limit} offset ${offset}`,
    count: () => countRecords(db, db`quotes quote where ${passing}`),
  });
}

const currentStatus = (db: Db) => db`(
  select version.status from quote_versions version
  where version.organization_id = quote.organization_id and version.quote_id = quote.id
  order by version.version desc limit 1)`;

/** Whether one of the owners is an owner of the row's `quote`. */
export const isOwned = (db: Db, ownerIds: readonly string[]) => db`
  exists (select from quote_owners held
    where held.organization_id = quote.organization_id and held.quote_id = quote.id
      and held.owner_id = any (${ownerIds.filter(isUuid)}::uuid[]))`;
