import type { Temporal } from 'temporal-polyfill';
import type { CreditNoteId, CustomerId, OrganizationId, PaymentId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import type { SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';

/** Work that is still there after this time has lost its job. */
const LOST_AFTER_MINUTES = 5;
/** After this time in progress a payment or refund is queried at its provider, because its event may be lost. */
const LOOK_AFTER_MINUTES = 60;
/** Age from which a refund of unknown outcome is left to a person. */
const GIVEN_UP_AFTER_HOURS = 24;
const PAGE = 500;

/**
 * Sends lost work to providers again: charges, cancellations, refunds, customers and pages without an answer; and
 * queries payments and refunds whose event may be lost. Each is idempotent at the provider. Stored events have their
 * own after-steps.
 *
 * Rules: periodic-jobs.md#retry-provider-events, payments.md#providers.
 */
export const retryProviderEvents: SweepJob = {
  name: 'retry-provider-events',
  async sweep({ sql, producer }, at) {
    const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
    const charges = await sql<{ organization_id: OrganizationId; payment_id: PaymentId; is_sent: boolean }[]>`
      select payment.organization_id, payment.id as payment_id, payment.payment_status = 'processing' as is_sent
      from payments payment
      join payment_providers provider
        on provider.organization_id = payment.organization_id and provider.id = payment.payment_provider_id
        and provider.provider_type = any (${NETWORK_TYPES})
      where payment.payment_type = 'provider'
        and (payment.payment_status = 'pending' and payment.error is null and payment.updated_at < ${lost}
          or payment.payment_status = 'processing' and payment.provider_payment_id is not null
            and payment.updated_at < ${at.subtract({ minutes: LOOK_AFTER_MINUTES })})
      order by payment.updated_at limit ${PAGE}`;
    const payloads = (isSent: boolean) =>
      charges
        .filter(({ is_sent }) => is_sent === isSent)
        .map(({ organization_id, payment_id }) => ({ payload: { organization_id, payment_id } }));
    await producer.addMany('payment.charge', payloads(false));
    await producer.addMany('payment.look-after', payloads(true));
    const canceled = await sql<{ organization_id: OrganizationId; payment_id: PaymentId }[]>`
      select organization_id, id as payment_id from payments
      where cancel_owed_at < ${lost} and provider_payment_id is not null
      order by cancel_owed_at limit ${PAGE}`;
    await producer.addMany(
      'payment.cancel',
      canceled.map((payload) => ({ payload })),
    );
    await sweepRefunds({ sql, producer }, at);
    const customers = await sql<{ organization_id: OrganizationId; customer_id: CustomerId }[]>`
      select organization_id, id as customer_id from customers
      where payment_provider_id is not null and provider_customer_id is null and deleted_at is null
        and updated_at < ${lost} limit ${PAGE}`;
    await producer.addMany(
      'payment.create-customer',
      customers.map((payload) => ({ payload })),
    );
    const linked = await sql<{ organization_id: OrganizationId; customer_id: CustomerId }[]>`
      select organization_id, id as customer_id from customers
      where methods_owed_at < ${lost} and deleted_at is null order by methods_owed_at limit ${PAGE}`;
    await producer.addMany(
      'payment.import-methods',
      linked.map((payload) => ({ payload })),
    );
  },
};

/** Refunds that were not sent yet, and begun ones whose event may be lost. */
async function sweepRefunds(
  { sql, producer }: Pick<SweepDeps, 'sql' | 'producer'>,
  at: Temporal.Instant,
): Promise<void> {
  const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
  const refunds = await sql<{ organization_id: OrganizationId; credit_note_id: CreditNoteId }[]>`
    select refund.organization_id, refund.credit_note_id
    from credit_note_refunds refund
    join credit_notes note
      on note.organization_id = refund.organization_id and note.id = refund.credit_note_id
      and note.refund_status = 'pending'
    join invoices invoice
      on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
      and invoice.payment_dispute_lost_at is null
    join payment_providers provider
      on provider.organization_id = refund.organization_id and provider.id = refund.payment_provider_id
      and provider.provider_type = any (${NETWORK_TYPES})
    where refund.provider_refund_id is null and refund.error is null and refund.updated_at < ${lost}
      and (refund.sent_at is null or refund.sent_at > ${at.subtract({ hours: GIVEN_UP_AFTER_HOURS })})
    order by refund.updated_at limit ${PAGE}`;
  await producer.addMany(
    'payment.refund',
    refunds.map((payload) => ({ payload })),
  );
  const begun = await sql<{ organization_id: OrganizationId; credit_note_id: CreditNoteId }[]>`
    select refund.organization_id, refund.credit_note_id
    from credit_note_refunds refund
    join credit_notes note
      on note.organization_id = refund.organization_id and note.id = refund.credit_note_id
      and note.refund_status = 'pending'
    join payment_providers provider
      on provider.organization_id = refund.organization_id and provider.id = refund.payment_provider_id
      and provider.provider_type = any (${NETWORK_TYPES})
    where refund.provider_refund_id is not null and refund.status in ('pending', 'requires_action')
      and refund.updated_at < ${at.subtract({ minutes: LOOK_AFTER_MINUTES })}
    order by refund.updated_at limit ${PAGE}`;
  await producer.addMany(
    'payment.look-after-refund',
    begun.map((payload) => ({ payload })),
  );
}
