import type { Temporal } from 'temporal-polyfill';
import { documentNumber, type NumberedDocument } from '../../../engine/quotes/document-number.ts';
import type { OrderType, QuoteVersionVoidReason } from '../../../engine/quotes/quote-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, QuoteId, QuoteVersionId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { BillingItems } from './billing-items/item-types.ts';

/**
 * The next number of a document in the organization; later requests wait for this transaction.
 * Rule: quotes.md#lifecycle.
 */
export async function nextNumber(ctx: Context, document: NumberedDocument): Promise<string> {
  const [row] = await ctx.db<{ last: number }[]>`
    insert into order_sequences (organization_id, document, last) values (${ctx.organizationId}, ${document}, 1)
    on conflict (organization_id, document) do update set last = order_sequences.last + 1
    returning last`;
  return documentNumber(document, ctx.now(), row!.last);
}

interface NewQuote {
  id: QuoteId;
  customer_id: CustomerId;
  subscription_id: SubscriptionId | null;
  number: string;
  order_type: OrderType;
}

export const insertQuote = ({ db, organizationId }: Scope, quote: NewQuote, now: Temporal.Instant) => db`
  insert into quotes (id, organization_id, customer_id, subscription_id, number, order_type, created_at, updated_at)
  values (${quote.id}, ${organizationId}, ${quote.customer_id}, ${quote.subscription_id}, ${quote.number},
    ${quote.order_type}, ${now}, ${now})`;

/** The owners of a new quote, in the order given. */
export const insertQuoteOwners = ({ db, organizationId }: Scope, quoteId: QuoteId, ownerIds: readonly string[]) => db`
  insert into quote_owners (organization_id, quote_id, owner_id, position)
  select ${organizationId}::uuid, ${quoteId}::uuid, owner.id, owner.position
  from unnest(${ownerIds}::uuid[]) with ordinality as owner (id, position)`;

/** Ids of people by their addresses; new people are stored. */
export async function ownersOf(
  { db, organizationId }: Scope,
  emails: readonly string[],
  now: Temporal.Instant,
): Promise<Map<string, string>> {
  await db`
    insert into owners (id, organization_id, email, created_at)
    select person.id, ${organizationId}::uuid, person.email, ${now}
    from unnest(${emails.map(() => newId())}::uuid[], ${emails}::text[]) as person (id, email)
    order by person.email
    on conflict on constraint owners_email_key do nothing`;
  const rows = await db<{ id: string; email: string }[]>`
    select id, email from owners where organization_id = ${organizationId} and email = any (${emails})`;
  return new Map(rows.map(({ id, email }) => [email, id]));
}

export async function findOwnerIds({ db, organizationId }: Scope, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`
    select id from owners where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** The contents of a version that authors write. */
export interface VersionFields {
  currency: string | null;
  billing_entity_code: string | null;
  content: string | null;
  billing_items: BillingItems | null;
}

export const insertVersion = (
  { db, organizationId }: Scope,
  version: VersionFields & { id: QuoteVersionId; quote_id: QuoteId; version: number },
  now: Temporal.Instant,
) => db`
  insert into quote_versions (id, organization_id, quote_id, version, currency, billing_entity_code, content,
    billing_items, created_at, updated_at)
  values (${version.id}, ${organizationId}, ${version.quote_id}, ${version.version}, ${version.currency},
    ${version.billing_entity_code}, ${version.content}, ${json(version.billing_items)}::jsonb, ${now}, ${now})`;

export const updateVersion = (
  { db, organizationId }: Scope,
  id: QuoteVersionId,
  { fields, now }: { fields: VersionFields; now: Temporal.Instant },
) => db`
  update quote_versions set currency = ${fields.currency}, billing_entity_code = ${fields.billing_entity_code},
    content = ${fields.content}, billing_items = ${json(fields.billing_items)}::jsonb, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

export const markApproved = (
  { db, organizationId }: Scope,
  id: QuoteVersionId,
  { approval, now }: { approval: { billingItems: BillingItems; displayVariables: object }; now: Temporal.Instant },
) => db`
  update quote_versions set status = 'approved', approved_at = ${now}, updated_at = ${now},
    billing_items = ${json(approval.billingItems)}::jsonb,
    display_variables = ${json(approval.displayVariables)}::jsonb
  where organization_id = ${organizationId} and id = ${id}`;

export const markVoided = (
  { db, organizationId }: Scope,
  id: QuoteVersionId,
  { reason, now }: { reason: QuoteVersionVoidReason; now: Temporal.Instant },
) => db`
  update quote_versions set status = 'voided', void_reason = ${reason}, voided_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** A change of a version updates its quote. */
export const touchQuote = ({ db, organizationId }: Scope, id: QuoteId, now: Temporal.Instant) => db`
  update quotes set updated_at = ${now} where organization_id = ${organizationId} and id = ${id}`;
