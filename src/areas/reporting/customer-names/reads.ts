import type { Context } from '../../../platform/context.ts';
import type { CustomerNames, CustomerNamesQuery } from './schema.ts';

/**
 * What live customers are called: by name, legal name, first and last name, else by their external id. Ids that name no
 * live customer are left out. One statement.
 *
 * Rule: console-reads.md#customer-names.
 */
export async function showCustomerNames(
  { db, organizationId }: Context,
  { query }: { query: CustomerNamesQuery },
): Promise<CustomerNames> {
  const ids = [...new Set(query.external_ids ?? [])];
  if (ids.length === 0) return { customer_names: [] };
  const customers = await db<{ svc_id: string; external_id: string; name: string }[]>`
    select id as svc_id, external_id, coalesce(nullif(name, ''), nullif(legal_name, ''),
      nullif(trim(concat_ws(' ', firstname, lastname)), ''), external_id) as name
    from customers
    where organization_id = ${organizationId} and external_id = any (${ids}::text[]) and deleted_at is null
    order by array_position(${ids}::text[], external_id)`;
  return { customer_names: [...customers] };
}
