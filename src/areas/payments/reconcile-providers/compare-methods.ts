import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { can } from '../../../platform/payments/providers.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { type MethodsThere, readMethodsThere } from '../collect-payments/import-methods.ts';
import type { Connected } from '../provider-network/network.ts';
import type { Compared } from './compare-lists.ts';

/** How many customers a run asks about: each is two calls; the next run goes on after the last one. */
const MOST_CUSTOMERS = 1000;

/**
 * Compares one customer and its methods with those of its provider. A run begins after the last customer of the run
 * before, so that in time all have their turn.
 *
 * @param at  how many customers this run has compared
 */
export async function compareMethods(
  scope: Scope,
  connection: Connected,
  at: string | null,
): Promise<{ next: string | null; compare(ctx: Context): Promise<readonly Compared[]> } | undefined> {
  const { db, organizationId } = scope;
  const { row } = connection;
  const count = at === null ? 0 : Number.parseInt(at, 10);
  if (count >= MOST_CUSTOMERS) return undefined;
  const [next] = await db<{ id: CustomerId }[]>`
    select customer.id from customers customer
    join payment_providers provider on provider.organization_id = customer.organization_id
      and provider.id = customer.payment_provider_id
    where customer.organization_id = ${organizationId} and customer.payment_provider_id = ${row.id}
      and customer.provider_customer_id is not null and customer.deleted_at is null and customer.methods_owed_at is null
      and exists (select from payment_methods method
        where method.organization_id = customer.organization_id and method.customer_id = customer.id
          and method.payment_provider_id = ${row.id} and method.deleted_at is null)
      and customer.id > coalesce(provider.methods_compared_to, ${FIRST_ID}::uuid)
    order by customer.id limit 1`;
  if (!next) {
    await db`
      update payment_providers set methods_compared_to = null
      where organization_id = ${organizationId} and id = ${row.id} and methods_compared_to is not null`;
    return undefined;
  }
  const customer = await readCustomer(scope, next.id);
  const there = await readStoredMethodsThere(scope, connection, customer);
  if (!there) return undefined;
  return {
    next: String(count + 1),
    async compare(ctx) {
      await ctx.db`
        update payment_providers set methods_compared_to = ${customer.id}
        where organization_id = ${organizationId} and id = ${row.id}`;
      const customerId = customer.id;
      const objectId = customer.provider_customer_id!;
      if (there.kind === 'refused') {
        const theirs = { status: there.error.code, message: there.error.message };
        return [drift('customer_missing_there', objectId, { theirs, customerId })];
      }
      const ours = await ctx.db<{ provider_method_id: string }[]>`
        select provider_method_id from payment_methods
        where organization_id = ${organizationId} and customer_id = ${customerId} and payment_provider_id = ${row.id}
          and id = any (${[...there.knownIds]}::uuid[]) and deleted_at is null`;
      const listed = idsListed(there);
      // Who collects by mandates alone has no other methods.
      const kind = can(row, 'mandate') && !can(row, 'payment_page') ? 'mandate_inactive' : 'method_missing_there';
      return [
        { objectId, verdict: 'equal' },
        ...ours.map(
          ({ provider_method_id: id }): Compared =>
            listed.has(id) ? { objectId: id, verdict: 'equal' } : drift(kind, id, { theirs: null, customerId }),
        ),
      ];
    },
  };
}

/**
 * What a provider says of a customer's methods, also of those of types that the customer does not allow any more: they
 * are still there. @throws Outage; ProviderRefusal, when it does not accept our credentials
 */
export async function readStoredMethodsThere(scope: Scope, connection: Connected, customer: CustomerRow) {
  const stored = await scope.db<{ type: string }[]>`
    select distinct method_type as type from payment_methods
    where organization_id = ${scope.organizationId} and customer_id = ${customer.id}
      and payment_provider_id = ${connection.row.id} and deleted_at is null`;
  const types = new Set([...customer.provider_payment_methods, ...stored.map(({ type }) => type)]);
  return readMethodsThere(scope, connection, customer, [...types]);
}

/** The ids by which the listed methods are known here: they may have had others before. */
export const idsListed = ({ methods }: Extract<MethodsThere, { kind: 'read' }>): ReadonlySet<string> =>
  new Set(methods.flatMap(({ providerMethodId, formerIds = [] }) => [providerMethodId, ...formerIds]));

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const drift = (
  kind: 'customer_missing_there' | 'method_missing_there' | 'mandate_inactive',
  objectId: string,
  { theirs, customerId }: { theirs: object | null; customerId: CustomerId },
): Compared => ({
  objectId,
  drift: { kind, objectId, ours: { status: 'linked' }, theirs: theirs as never, paymentId: null, customerId },
  repairsItself: false,
});
