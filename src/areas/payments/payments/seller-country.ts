import type { Scope } from '../../../platform/db/scope.ts';

/** The country of the billing entity that an invoice, or the invoices of a payment request, are from. */
export async function sellerCountryOf(
  { db, organizationId }: Scope,
  { payable_type, payable_id }: { payable_type: 'Invoice' | 'PaymentRequest'; payable_id: string },
): Promise<string | null> {
  const [entity] = await db<{ country: string | null }[]>`
    select entity.country from ${db(payable_type === 'Invoice' ? 'invoices' : 'payment_requests')} payable
    join billing_entities entity
      on entity.organization_id = payable.organization_id and entity.id = payable.billing_entity_id
    where payable.organization_id = ${organizationId} and payable.id = ${payable_id}`;
  return entity?.country ?? null;
}
