import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { ProviderRefusal, TooManyCalls } from '../../../platform/payments/port.ts';
import { isOverNetwork } from '../../../platform/payments/providers.ts';
import { answeredInTime, type PreStep } from '../../../platform/pre-step.ts';
import { Outage, refuse } from '../../../platform/refusal.ts';
import { type CustomerRow, getCustomer, lockCustomer } from '../../customers/customers/queries.ts';
import { listMethods } from '../../customers/payment-methods/queries.ts';
import { methodView } from '../../customers/payment-methods/view.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { connected } from '../provider-network/network.ts';
import { lockLinked, type MethodsThere, readMethodsThere, storeMethodsThere } from './import-methods.ts';

/** How many methods the answer shows: more than any customer has. */
const MOST_SHOWN = 1000;

interface Answered {
  /** As it was when the provider was asked. */
  customer: CustomerRow;
  /** The debt that stood then; a later one is about something that the answer may not show yet. */
  owedAt: Temporal.Instant | null;
  there: Extract<MethodsThere, { kind: 'read' }>;
}

/**
 * Pre-step of `POST /customers/{external_id}/payment_methods/import`: reads the methods that the customer has at its
 * provider.
 *
 * @throws Refusal 404 customer; 422 provider_error, also without an answer (provider_unreachable); 401; 429
 * Rule: provider-connections.md#customers-at-the-provider.
 */
export const askForMethods: PreStep = async (deps, { organizationId, input }) => {
  const scope = { db: deps.sql, organizationId };
  const customer = await getCustomer(scope, input.external_id);
  const connection = await connected(deps, organizationId, customer.payment_provider_id);
  if (!connection) return undefined;
  const { code } = connection.row;
  const [owed] = await deps.sql<{ methods_owed_at: Temporal.Instant | null }[]>`
    select methods_owed_at from customers where organization_id = ${organizationId} and id = ${customer.id}`;
  let there: MethodsThere | undefined;
  try {
    there = await answeredInTime(readMethodsThere(scope, connection, customer));
  } catch (error) {
    if (error instanceof ProviderRefusal) throw refuse.providerCredentials(error.error.message);
    if (!(error instanceof Outage) || error instanceof TooManyCalls) throw error;
    const message = 'The provider did not answer in time.';
    throw refuse.provider(code, { code: 'provider_unreachable', message });
  }
  if (there?.kind === 'refused') throw refuse.provider(code, there.error);
  return there && ({ customer, owedAt: owed?.methods_owed_at ?? null, there } satisfies Answered);
};

/**
 * Makes the payment methods of a customer those that its provider has. A double has none of its own, so nothing
 * changes.
 *
 * @throws Refusal 404 customer; 422 base no_linked_payment_provider; 405 feature_not_supported, of a provider that
 *   cannot list methods; 503, when the customer was linked elsewhere meanwhile
 * Rule: provider-connections.md#customers-at-the-provider.
 */
export async function importMethodsNow(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await lockCustomer(ctx, external_id);
  if (!customer) throw refuse.notFound('customer');
  const provider =
    customer.payment_provider_id === null ? undefined : await findProviderById(ctx, customer.payment_provider_id);
  if (!provider || customer.provider_customer_id === null)
    throw refuse.invalid({ base: ['no_linked_payment_provider'] });
  const isAsked = isOverNetwork(provider.provider_type) && !ctx.asked?.isRehearsal;
  const counts = isAsked ? await storeAsked(ctx) : { imported: 0, removed: 0 };
  const { rows } = await listMethods(ctx, customer.id, { page: 1, per_page: MOST_SHOWN });
  return { payment_methods: rows.map(methodView), ...counts };
}

async function storeAsked(ctx: Context): Promise<{ imported: number; removed: number }> {
  const answered = ctx.asked?.answer as Answered | undefined;
  if (!answered) throw refuse.notAllowed('feature_not_supported');
  const now = await lockLinked(ctx, answered.customer);
  if (!now) throw refuse.unavailable();
  await ctx.db`
    update customers set methods_owed_at = null, methods_keep_default = false
    where organization_id = ${ctx.organizationId} and id = ${now.id} and methods_owed_at = ${answered.owedAt}`;
  return storeMethodsThere(ctx, now, answered.there, { keepsDefault: false });
}
