import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, PaymentMethodId, PaymentProviderId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';

export interface NewMethod {
  customerId: CustomerId;
  providerId: string;
  providerCustomerId: string;
  providerMethodId: string;
  type: string;
  details: object;
  isDefault: boolean;
  now: Temporal.Instant;
}

/**
 * Stores a method; a known one keeps its id. The customer is locked.
 *
 * @returns its id
 * Rule: payments.md#payment-methods.
 */
export async function storeMethod(scope: Scope, method: NewMethod): Promise<string> {
  const { db, organizationId } = scope;
  if (method.isDefault) await clearDefault(scope, method.customerId, method.now);
  const [row] = await db<{ id: PaymentMethodId }[]>`
    insert into payment_methods (id, organization_id, customer_id, payment_provider_id, provider_customer_id,
      provider_method_id, method_type, details, is_default, created_at, updated_at)
    values (${newId()}, ${organizationId}, ${method.customerId}, ${method.providerId}, ${method.providerCustomerId},
      ${method.providerMethodId}, ${method.type}, ${json(method.details)}, ${method.isDefault}, ${method.now},
      ${method.now})
    on conflict (organization_id, payment_provider_id, provider_customer_id, provider_method_id)
      where deleted_at is null
      do update set is_default = payment_methods.is_default or excluded.is_default, updated_at = excluded.updated_at
    returning id`;
  return row!.id;
}

const clearDefault = ({ db, organizationId }: Scope, customerId: CustomerId, now: Temporal.Instant) => db`
  update payment_methods set is_default = false, updated_at = ${now}
  where organization_id = ${organizationId} and customer_id = ${customerId} and is_default and deleted_at is null`;

export async function makeDefault(
  scope: Scope,
  customerId: CustomerId,
  { id, now }: { id: PaymentMethodId; now: Temporal.Instant },
): Promise<void> {
  await clearDefault(scope, customerId, now);
  await scope.db`
    update payment_methods set is_default = true, updated_at = ${now}
    where organization_id = ${scope.organizationId} and id = ${id}`;
}

export const discardMethod = ({ db, organizationId }: Scope, id: PaymentMethodId, now: Temporal.Instant) => db`
  update payment_methods set deleted_at = ${now}, is_default = false, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id} and deleted_at is null`;

/** Makes the newest method of a customer the default, where none is. */
export const ensureDefault = ({ db, organizationId }: Scope, customerId: CustomerId, now: Temporal.Instant) => db`
  update payment_methods set is_default = true, updated_at = ${now}
  where organization_id = ${organizationId} and id = (
    select newest.id from payment_methods newest
    where newest.organization_id = ${organizationId} and newest.customer_id = ${customerId}
      and newest.deleted_at is null and not exists (
        select from payment_methods known
        where known.organization_id = ${organizationId} and known.customer_id = ${customerId} and known.is_default
          and known.deleted_at is null)
    order by newest.created_at desc, newest.id desc limit 1)`;

/** Makes the newest other method of a customer the default; none is, where there is no other. */
export async function passDefaultOn(
  scope: Scope,
  { id, customer_id: customerId }: { id: PaymentMethodId; customer_id: CustomerId },
  now: Temporal.Instant,
): Promise<void> {
  await clearDefault(scope, customerId, now);
  await scope.db`
    update payment_methods set is_default = true, updated_at = ${now}
    where organization_id = ${scope.organizationId} and id = (
      select id from payment_methods
      where organization_id = ${scope.organizationId} and customer_id = ${customerId} and id <> ${id}
        and deleted_at is null
      order by created_at desc, id desc limit 1)`;
}

/** Gives a method the id that its provider has for it now; one that is known by that id already stays. */
export const renameMethod = (
  { db, organizationId }: Scope,
  id: PaymentMethodId,
  { providerMethodId, now }: { providerMethodId: string; now: Temporal.Instant },
) => db`
  update payment_methods method set provider_method_id = ${providerMethodId}, updated_at = ${now}
  where method.organization_id = ${organizationId} and method.id = ${id} and not exists (
    select from payment_methods known
    where known.organization_id = ${organizationId} and known.payment_provider_id = method.payment_provider_id
      and known.provider_customer_id = method.provider_customer_id
      and known.provider_method_id = ${providerMethodId} and known.deleted_at is null)`;

/** Changes what is known of a method, as its provider corrected it. */
export const describeMethod = (
  { db, organizationId }: Scope,
  id: PaymentMethodId,
  { type, details, now }: { type: string; details: object; now: Temporal.Instant },
) => db`
  update payment_methods set method_type = ${type}, details = details || ${json(details)}::jsonb, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Discards all methods of a deleted connection. */
export async function discardMethodsOfProvider(
  { db, organizationId, now }: Context,
  { payment_provider_id }: { payment_provider_id: PaymentProviderId },
): Promise<void> {
  await db`
    update payment_methods set deleted_at = ${now()}, is_default = false, updated_at = ${now()}
    where organization_id = ${organizationId} and payment_provider_id = ${payment_provider_id} and deleted_at is null`;
}

/** Discards all methods of a customer, whose link with its provider has ended. */
export async function discardMethodsOfCustomer(
  { db, organizationId, now }: Context,
  { customer_id }: { customer_id: CustomerId },
): Promise<void> {
  await db`
    update payment_methods set deleted_at = ${now()}, is_default = false, updated_at = ${now()}
    where organization_id = ${organizationId} and customer_id = ${customer_id} and deleted_at is null`;
}
