import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId, OrganizationId, PaymentMethodId } from '../../../platform/ids.ts';
import type { MethodThere } from '../../../platform/payments/port.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { customerWebhookView } from '../../customers/customers/view.ts';
import {
  describeMethod,
  discardMethod,
  ensureDefault,
  renameMethod,
  storeMethod,
} from '../../customers/payment-methods/writes.ts';
import { checkoutView } from '../payments/checkout-url.ts';
import { COLLECT_STEP } from '../payments/owe-collection.ts';
import { type Connected, connected, type NetworkDeps, transact } from '../provider-network/network.ts';

/** How many invoices that nobody could charge are charged when a method becomes known; the others by hand. */
const MOST_INVOICES = 1000;

/**
 * Job `payment.import-methods`: reads the methods that a customer has at its provider after it was linked there: ours
 * become the same, and invoices that were never charged for want of a method are charged. A customer who does not exist
 * there is announced and stays linked.
 *
 * @throws Outage
 * Rule: provider-connections.md#customers-at-the-provider.
 */
export async function importMethods(
  deps: NetworkDeps,
  { organization_id: organizationId, customer_id: id }: { organization_id: OrganizationId; customer_id: CustomerId },
): Promise<void> {
  const customer = await readCustomer({ db: deps.sql, organizationId }, id);
  const connection = await connected(deps, organizationId, customer.payment_provider_id);
  const there = connection && (await readThere(connection, customer));
  await transact(deps, organizationId, async (ctx) => {
    await ctx.db`select from customers where organization_id = ${organizationId} and id = ${id} for no key update`;
    const now = await readCustomer(ctx, id);
    // Linked to another one meanwhile, which has a job of its own.
    if (now.provider_customer_id !== customer.provider_customer_id) return;
    await ctx.db`
      update customers set methods_owed_at = null where organization_id = ${organizationId} and id = ${id}`;
    if (there === 'missing') recordMissing(ctx, now);
    else if (connection && there) await store(ctx, now, connection.row.id, there);
  });
}

interface There {
  methods: readonly MethodThere[];
  /** Undefined where the provider knows no default. */
  defaultId: string | undefined;
}

/** Undefined where the provider cannot list methods. */
async function readThere({ provider }: Connected, customer: CustomerRow): Promise<There | 'missing' | undefined> {
  const { provider_customer_id: customerId, provider_payment_methods: types } = customer;
  if (!provider.readCustomer || !provider.listMethods || customerId === null) return undefined;
  const found = await provider.readCustomer(customerId);
  if (!found) return 'missing';
  const methods = await provider.listMethods(customerId, types);
  const isListed = methods.some(({ providerMethodId }) => providerMethodId === found.defaultMethodId);
  return { methods, defaultId: isListed ? found.defaultMethodId! : undefined };
}

async function store(
  ctx: Context,
  customer: CustomerRow,
  providerId: string,
  { methods, defaultId }: There,
): Promise<void> {
  const { db, organizationId } = ctx;
  const readKnown = () => db<{ id: PaymentMethodId; provider_method_id: string }[]>`
    select id, provider_method_id from payment_methods
    where organization_id = ${organizationId} and customer_id = ${customer.id}
      and payment_provider_id = ${providerId} and deleted_at is null`;
  for (const { id, provider_method_id: former } of await readKnown()) {
    const now = methods.find(({ formerIds }) => formerIds?.includes(former));
    if (now) await renameMethod(ctx, id, { providerMethodId: now.providerMethodId, now: ctx.now() });
  }
  const known = await readKnown();
  const isKnown = (method: MethodThere) => known.some((ours) => ours.provider_method_id === method.providerMethodId);
  // The newest stands first. One that we know already has been the default, and may have been replaced as such.
  const newest = methods.find((method, place) => place === 0 && !isKnown(method));
  const isDefault = (id: string) => id === (defaultId ?? newest?.providerMethodId);
  const gone = known.filter((ours) => !methods.some((each) => each.providerMethodId === ours.provider_method_id));
  for (const { id } of gone) await discardMethod(ctx, id, ctx.now());
  // Oldest first, so that ours have the same order.
  for (const { providerMethodId, methodType, details } of methods.toReversed()) {
    const id = await storeMethod(ctx, {
      customerId: customer.id,
      providerId,
      providerCustomerId: customer.provider_customer_id!,
      providerMethodId,
      type: methodType,
      details,
      isDefault: isDefault(providerMethodId),
      now: ctx.now(),
    });
    await describeMethod(ctx, id, { type: methodType, details, now: ctx.now() });
  }
  if (gone.length > 0) await ensureDefault(ctx, customer.id, ctx.now());
  const imported = methods.filter((each) => !isKnown(each));
  ctx.record({
    webhook: {
      type: 'customer.payment_methods_imported',
      objectType: 'payment_methods_import',
      objectId: customer.id,
      customerId: customer.id,
      object: { customer: customerWebhookView(customer), imported: imported.length, removed: gone.length },
    },
  });
  if (methods.length > 0) await oweUncharged(ctx, customer.id);
}

/** Owes the charge of final invoices that were never charged for want of a method, oldest first. */
async function oweUncharged(ctx: Context, customerId: CustomerId): Promise<void> {
  const invoices = await ctx.db<{ id: InvoiceId }[]>`
    select id from invoices
    where organization_id = ${ctx.organizationId} and customer_id = ${customerId} and status = 'finalized'
      and payment_status = 'pending' and payment_attempts = 0 and ready_for_payment_processing
    order by issuing_date, id limit ${MOST_INVOICES}`;
  for (const { id } of invoices) ctx.after({ step: COLLECT_STEP, payload: { invoice_id: id } });
}

function recordMissing(ctx: Context, customer: CustomerRow): void {
  const { checkout_url: _, ...named } = checkoutView(customer, '');
  ctx.record({
    webhook: {
      type: 'customer.payment_provider_error',
      objectType: 'payment_provider_customer_error',
      objectId: customer.id,
      customerId: customer.id,
      object: {
        ...named,
        provider_error: {
          message: `No such customer: ${customer.provider_customer_id}`,
          error_code: 'resource_missing',
        },
      },
    },
  });
}
