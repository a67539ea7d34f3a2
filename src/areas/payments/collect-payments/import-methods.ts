import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, InvoiceId, OrganizationId, PaymentMethodId } from '../../../platform/ids.ts';
import { type MethodThere, type ProviderError, ProviderRefusal } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import type { customerNeedsNoMethod } from '../../customers/announcements.ts';
import { recordNotMade } from '../../customers/customers/announce-link.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { customerWebhookView } from '../../customers/customers/view.ts';
import {
  describeMethod,
  discardMethod,
  ensureDefault,
  renameMethod,
  storeMethod,
} from '../../customers/payment-methods/writes.ts';
import { COLLECT_STEP } from '../payments/owe-collection.ts';
import { type Connected, connected, type NetworkDeps } from '../provider-network/network.ts';

/** How many invoices that nobody could charge are charged when a method becomes known; the others by hand. */
const MOST_INVOICES = 1000;

/** What a provider says of a customer's methods. */
export type MethodsThere =
  | {
      kind: 'read';
      /** The newest stands first. */
      methods: readonly MethodThere[];
      /** Undefined where the provider knows no default. */
      defaultId: string | undefined;
      /** Ours of that provider when it was asked: one that is not there any more is gone. */
      knownIds: readonly PaymentMethodId[];
    }
  | { kind: 'refused'; error: ProviderError };

interface Owed {
  methods_owed_at: Temporal.Instant | null;
  methods_keep_default: boolean;
}

/**
 * Job `payment.import-methods`: reads the methods that a customer has at its provider after it was linked there, or
 * stored one of unknown kind: ours become the same, and invoices that were never charged for want of a method are
 * charged. A customer who does not exist there is announced and stays linked.
 *
 * @throws Outage
 * Rule: provider-connections.md#customers-at-the-provider.
 */
export async function importMethods(
  deps: NetworkDeps,
  { organization_id: organizationId, customer_id: id }: { organization_id: OrganizationId; customer_id: CustomerId },
): Promise<void> {
  const scope = { db: deps.sql, organizationId };
  const [owed] = await deps.sql<Owed[]>`
    select methods_owed_at, methods_keep_default from customers
    where organization_id = ${organizationId} and id = ${id} and methods_owed_at is not null`;
  if (!owed) return;
  const customer = await readCustomer(scope, id);
  const connection = await connected(deps, organizationId, customer.payment_provider_id);
  const there = connection && (await readMethodsThere(scope, connection, customer));
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    const now = await lockLinked(ctx, customer);
    // Linked to another one meanwhile, which has a job of its own.
    if (!now) return;
    await ctx.db`
      update customers set methods_owed_at = null, methods_keep_default = false
      where organization_id = ${organizationId} and id = ${id} and methods_owed_at = ${owed.methods_owed_at}`;
    if (there?.kind === 'refused') recordNotMade(ctx, now, there.error);
    else if (there) await storeMethodsThere(ctx, now, there, { keepsDefault: owed.methods_keep_default });
  });
}

/** The customer, locked; undefined if it is linked to another one at a provider than it was before. */
export async function lockLinked(ctx: Context, before: CustomerRow): Promise<CustomerRow | undefined> {
  await ctx.db`
    select from customers where organization_id = ${ctx.organizationId} and id = ${before.id} for no key update`;
  const now = await readCustomer(ctx, before.id);
  const isSame =
    now.payment_provider_id === before.payment_provider_id && now.provider_customer_id === before.provider_customer_id;
  return isSame ? now : undefined;
}

/**
 * Asks a provider about a customer's methods; undefined where it cannot list methods, or charges none.
 *
 * @param types  which methods: those that the customer allows, unless it is said otherwise
 * @throws Outage; ProviderRefusal, when it does not accept our credentials
 */
export async function readMethodsThere(
  { db, organizationId }: Scope,
  { row, provider }: Connected,
  customer: CustomerRow,
  types: readonly string[] = customer.provider_payment_methods,
): Promise<MethodsThere | undefined> {
  const { provider_customer_id: customerId } = customer;
  if (!provider.listMethods || customerId === null || !can(row, 'off_session_charge')) return undefined;
  const known = await db<{ id: PaymentMethodId }[]>`
    select id from payment_methods
    where organization_id = ${organizationId} and customer_id = ${customer.id} and payment_provider_id = ${row.id}
      and deleted_at is null`;
  try {
    // Not every provider has records of customers that can be read.
    const found = provider.readCustomer ? await provider.readCustomer(customerId) : { defaultMethodId: null };
    if (!found) return { kind: 'refused', error: missing(customer) };
    const methods = await provider.listMethods(customerId, types);
    const isListed = methods.some(({ providerMethodId }) => providerMethodId === found.defaultMethodId);
    const defaultId = isListed ? found.defaultMethodId! : undefined;
    return { kind: 'read', methods, defaultId, knownIds: known.map(({ id }) => id) };
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    const { httpStatus } = error.error;
    if (httpStatus === 401 || httpStatus === 403) throw error;
    return { kind: 'refused', error: error.error };
  }
}

const missing = ({ provider_customer_id }: CustomerRow): ProviderError => ({
  code: 'resource_missing',
  message: `No such customer: ${provider_customer_id}`,
});

/**
 * Makes the methods of a locked customer those that its provider has.
 *
 * keepsDefault  the default one stays, if the provider has it
 *
 * @returns how many are new, and how many are gone
 */
export async function storeMethodsThere(
  ctx: Context,
  customer: CustomerRow,
  { methods, defaultId: theirs, knownIds }: Extract<MethodsThere, { kind: 'read' }>,
  { keepsDefault }: { keepsDefault: boolean },
): Promise<{ imported: number; removed: number }> {
  const { db, organizationId } = ctx;
  const providerId = customer.payment_provider_id!;
  const readOurs = () => db<{ id: PaymentMethodId; provider_method_id: string; is_default: boolean }[]>`
    select id, provider_method_id, is_default from payment_methods
    where organization_id = ${organizationId} and customer_id = ${customer.id}
      and payment_provider_id = ${providerId} and deleted_at is null`;
  for (const { id, provider_method_id: former } of await readOurs()) {
    const now = methods.find(({ formerIds }) => formerIds?.includes(former));
    if (now) await renameMethod(ctx, id, { providerMethodId: now.providerMethodId, now: ctx.now() });
  }
  const ours = await readOurs();
  const isKnown = (id: string) => ours.some((each) => each.provider_method_id === id);
  const isThere = (id: string) => methods.some(({ providerMethodId }) => providerMethodId === id);
  // One that was stored after the provider was asked is not gone.
  const gone = ours.filter(({ id, provider_method_id }) => knownIds.includes(id) && !isThere(provider_method_id));
  for (const { id } of gone) await discardMethod(ctx, id, ctx.now());
  const kept = keepsDefault ? ours.find(({ is_default }) => is_default)?.provider_method_id : undefined;
  // The newest stands first. One that we know already has been the default, and may have been replaced as such.
  const newest = methods
    .map(({ providerMethodId }) => providerMethodId)
    .find((id, place) => place === 0 && !isKnown(id));
  const defaultId = kept !== undefined && isThere(kept) ? kept : (theirs ?? newest);
  // Oldest first, so that ours have the same order.
  for (const { providerMethodId, methodType, details } of methods.toReversed()) {
    const id = await storeMethod(ctx, {
      customerId: customer.id,
      providerId,
      providerCustomerId: customer.provider_customer_id!,
      providerMethodId,
      type: methodType,
      details,
      isDefault: providerMethodId === defaultId,
      now: ctx.now(),
    });
    await describeMethod(ctx, id, { type: methodType, details, now: ctx.now() });
  }
  if (gone.length > 0) await ensureDefault(ctx, customer.id, ctx.now());
  const imported = methods.filter(({ providerMethodId }) => !isKnown(providerMethodId));
  const counts = { imported: imported.length, removed: gone.length };
  const isNews = !keepsDefault || counts.imported + counts.removed > 0;
  if (isNews)
    ctx.record({
      webhook: {
        type: 'customer.payment_methods_imported',
        objectType: 'payment_methods_import',
        objectId: customer.id,
        customerId: customer.id,
        object: { customer: customerWebhookView(customer), ...counts },
      },
    });
  if (methods.length > 0) await oweUncharged(ctx, customer.id);
  return counts;
}

/** A customer who needs no method can be charged from now on. */
export const collectWithoutMethod = (
  ctx: Context,
  { customer_id }: PayloadOf<typeof customerNeedsNoMethod>,
): Promise<void> => oweUncharged(ctx, customer_id);

/** Owes the charge of final invoices that were never charged for want of a method, oldest first. */
export async function oweUncharged(ctx: Context, customerId: CustomerId): Promise<void> {
  const invoices = await ctx.db<{ id: InvoiceId }[]>`
    select id from invoices
    where organization_id = ${ctx.organizationId} and customer_id = ${customerId}
      and status = 'finalized' and payment_status = 'pending' and payment_attempts = 0 and ready_for_payment_processing
    order by issuing_date, id limit ${MOST_INVOICES}`;
  for (const { id } of invoices) ctx.after({ step: COLLECT_STEP, payload: { invoice_id: id } });
}
