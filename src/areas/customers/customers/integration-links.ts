import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import { type CustomerId, type IntegrationId, newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { taxFactsChanged } from '../announcements.ts';
import { flagDraftsOfCustomer } from '../flag-drafts.ts';
import { INTEGRATIONS, type IntegrationType } from '../integrations/schema.ts';
import type { CustomerRow, ForeignId } from './queries.ts';
import type { CustomerInput } from './schema.ts';

type LinkInput = NonNullable<CustomerInput['integration_customers']>[number];

/** A connection that a link may name. */
interface Connection {
  id: IntegrationId;
  integration_type: IntegrationType;
  code: string;
}

/** What a tax engine is told about a customer. */
const TAX_FACTS = [
  ...(['name', 'legal_name', 'tax_identification_number', 'billing_entity_id'] as const),
  ...(['country', 'state', 'zipcode', 'city', 'address_line1'] as const),
  ...(['shipping_country', 'shipping_state', 'shipping_zipcode', 'shipping_city', 'shipping_address_line1'] as const),
] as const;

/**
 * Refuses links that cannot be, before anything is written.
 *
 * @throws Refusal 422 integration_customers value_must_be_blank, of a partner, or of a customer that becomes one and
 *   would keep a link; type tax_integration_exists, when two are of tax engines
 * Rule: customers.md#integrations.
 */
export function demandLinks(body: CustomerInput, stored: CustomerRow | undefined): void {
  const becomesPartner = body.account_type === 'partner' && stored?.account_type !== 'partner';
  const links = body.integration_customers ?? (becomesPartner ? (stored?.integration_customers ?? []) : []);
  if (links.length === 0) return;
  if ((body.account_type ?? stored?.account_type) === 'partner')
    throw refuse.invalid({ integration_customers: ['value_must_be_blank'] });
  const asked = body.integration_customers ?? [];
  const taxing = asked.filter(({ integration_type: type }) => isKnownType(type) && INTEGRATIONS[type] === 'tax');
  if (taxing.length > 1) throw refuse.invalid({ type: ['tax_integration_exists'] });
}

const isKnownType = (type: string | null | undefined): type is IntegrationType =>
  type !== null && type !== undefined && Object.hasOwn(INTEGRATIONS, type);

/**
 * Links a saved customer to other systems as the request says: absent keeps what is stored, a list replaces it, and an
 * entry that names a stored link changes it. A tax engine knows a customer by an id that needs no call, so
 * `sync_with_provider` gives it one.
 *
 * @throws Refusal 422 integration_customers integration_not_found; external_customer_id value_is_mandatory; type
 *   tax_integration_exists, when two connections named by their codes are tax engines
 * Rule: customers.md#integrations.
 */
export async function saveLinks(ctx: Context, customer: CustomerRow, links: readonly LinkInput[] | undefined) {
  if (links === undefined) return;
  const stored = customer.integration_customers;
  if (links.length === 0 && stored.length === 0) return;
  const wanted = [];
  for (const link of links) wanted.push(await resolved(ctx, customer, link));
  const categories = wanted.map(({ connection }) => INTEGRATIONS[connection.integration_type]);
  if (new Set(categories).size < categories.length) throw refuse.invalid({ type: ['tax_integration_exists'] });
  await ctx.db`
    delete from integration_customers
    where organization_id = ${ctx.organizationId} and customer_id = ${customer.id}
      and id <> all (${wanted.map(({ id }) => id)}::uuid[])`;
  for (const link of wanted) await putLink(ctx, customer.id, link);
}

interface ResolvedLink {
  id: string;
  connection: Connection;
  external_customer_id: ForeignId;
  settings: object;
}

async function resolved(ctx: Context, customer: CustomerRow, link: LinkInput): Promise<ResolvedLink> {
  const connection = await findConnection(ctx, link);
  if (!connection) throw refuse.invalid({ integration_customers: ['integration_not_found'] });
  const known = customer.integration_customers.find(
    ({ svc_id, integration_code }) => svc_id === link.id || integration_code === connection.code,
  );
  const id = link.external_customer_id ?? known?.external_customer_id ?? null;
  if (id === null && !link.sync_with_provider) throw refuse.invalid({ external_customer_id: ['value_is_mandatory'] });
  const { subsidiary_id = null, targeted_object = null } = link;
  return {
    id: known?.svc_id ?? newId(),
    connection,
    external_customer_id: id ?? `svc:${customer.id}`,
    settings: { subsidiary_id, targeted_object },
  };
}

/** The connection of a code, or the only one of a type. */
async function findConnection(
  { db, organizationId }: Context,
  { integration_code: code = null, integration_type: type = null }: LinkInput,
): Promise<Connection | undefined> {
  if (code === null && type === null) return undefined;
  const found = await db<Connection[]>`
    select id, integration_type, code from integrations
    where organization_id = ${organizationId} and deleted_at is null and category <> 'e_invoicing'
      ${code === null ? db`` : db`and code = ${code}`}
      ${type === null ? db`` : db`and integration_type = ${type}`}
    limit 2`;
  return found.length === 1 ? found[0] : undefined;
}

const putLink = (
  { db, organizationId, now }: Context,
  customerId: CustomerId,
  { id, connection, external_customer_id, settings }: ResolvedLink,
) => db`
  insert into integration_customers (id, organization_id, customer_id, integration_id, category, external_customer_id,
    settings, created_at, updated_at)
  values (${id}, ${organizationId}, ${customerId}, ${connection.id}, ${INTEGRATIONS[connection.integration_type]},
    ${external_customer_id}, ${json(settings)}, ${now()}, ${now()})
  on conflict (id) do update set integration_id = excluded.integration_id,
    external_customer_id = excluded.external_customer_id, settings = excluded.settings,
    updated_at = excluded.updated_at`;

/**
 * Follows what a change means to a tax engine: drafts are computed again, and what has no answer yet is asked again.
 */
export async function followTaxFacts(ctx: Context, before: CustomerRow, customer: CustomerRow): Promise<void> {
  const [former, present] = [engineOf(before), engineOf(customer)];
  if (former === undefined && present === undefined) return;
  const isSame = former === present && TAX_FACTS.every((field) => before[field] === customer[field]);
  if (isSame) return;
  await flagDraftsOfCustomer(ctx, customer.id);
  await announce(ctx, taxFactsChanged, { customer_id: customer.id });
}

/** The link of a customer with a tax engine, as a text that is equal for equal links. */
function engineOf({ integration_customers: links }: CustomerRow): string | undefined {
  const link = links.find(({ category }) => category === 'tax');
  return link && `${link.svc_id} ${link.integration_code} ${link.external_customer_id}`;
}
