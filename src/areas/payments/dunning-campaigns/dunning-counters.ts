import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import type { PaymentChange } from '../../invoices/announcements.ts';

/**
 * Sets the attempts of a customer in a currency to 0; the last attempt is forgotten with the last counter.
 * Rule: payment-requests.md#dunning.
 */
export async function resetCounter(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  currency: string,
): Promise<void> {
  await db`
    delete from customer_dunning_counters
    where organization_id = ${organizationId} and customer_id = ${customerId} and currency = ${currency}`;
  await db`
    update customers set last_dunning_attempt_at = null
    where organization_id = ${organizationId} and id = ${customerId} and last_dunning_attempt_at is not null
      and not exists (select from customer_dunning_counters counter
        where counter.organization_id = ${organizationId} and counter.customer_id = ${customerId})`;
}

/** Sets all attempts of some customers to 0. */
export async function resetCustomers({ db, organizationId }: Scope, customerIds: readonly CustomerId[]): Promise<void> {
  if (customerIds.length === 0) return;
  await db`
    delete from customer_dunning_counters
      where organization_id = ${organizationId} and customer_id = any (${customerIds})`;
  await db`
    update customers set last_dunning_attempt_at = null
    where organization_id = ${organizationId} and id = any (${customerIds}) and last_dunning_attempt_at is not null`;
}

/**
 * A paid overdue invoice that a campaign had asked for resets the customer's counters.
 * Rule: payment-requests.md#dunning.
 */
export async function resetDunningOfInvoice(ctx: Context, { invoice, status }: PaymentChange): Promise<void> {
  if (status !== 'succeeded' || !invoice.payment_overdue) return;
  const { db, organizationId } = ctx;
  const [asked] = await db`
    select from payment_request_invoices asked
    join payment_requests request on request.organization_id = asked.organization_id
      and request.id = asked.payment_request_id and request.dunning_campaign_id is not null
    where asked.organization_id = ${organizationId} and asked.invoice_id = ${invoice.id}
    limit 1`;
  if (asked) await resetCounter(ctx, invoice.customer_id, invoice.currency);
}
