import type { Temporal } from 'temporal-polyfill';
import type { Fragment, Sql } from '../../../platform/db/connect.ts';
import { takeInTurn } from '../../../platform/db/rows-in-turn.ts';
import type { CreditNoteId, CustomerId, PaymentId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import { DAYS_TO_CONFIRM } from '../../../platform/payments/unconfirmed.ts';
import type { SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { PAGE_LIFE_HOURS } from './close-pages-first.ts';

/** Work that is still there after this time has lost its job. */
const LOST_AFTER_MINUTES = 5;
/** After this time in progress a payment or refund is queried at its provider, because its event may be lost. */
const LOOK_AFTER_MINUTES = 60;
/** A transfer that the customer has not made for so long may never be made, and does not end by itself. */
const FORGOTTEN_AFTER_DAYS = 3;
/** How often its provider is asked about such a transfer, and about a charge that it did not end unconfirmed. */
const FORGOTTEN_EVERY_HOURS = 24;
/** Age from which a refund of unknown outcome is left to a person. */
const GIVEN_UP_AFTER_HOURS = 24;

type Work = Pick<SweepDeps, 'sql' | 'producer'>;

/**
 * Sends lost work to providers again: charges, cancellations, refunds, customers, methods and pages without an answer;
 * and queries payments and refunds whose event may be lost, each at most once an hour, and a transfer of some days once
 * a day; charges that nobody has confirmed end. All of it is idempotent at the provider. Stored events have their own
 * after-steps.
 *
 * Rules: periodic-jobs.md#retry-provider-events, payments.md#providers.
 */
export const retryProviderEvents: SweepJob = {
  name: 'retry-provider-events',
  async sweep({ sql, producer }, at) {
    await sweepPayments({ sql, producer }, at);
    await sweepRefunds({ sql, producer }, at);
    await sweepCustomers({ sql, producer }, at);
    await sweepPages({ sql, producer }, at);
  },
};

/** A job under its own name, which is no second one while the first waits. */
const once = <Payload>(prefix: string, id: string, payload: Payload) => ({
  payload,
  options: { id: `${prefix}-${id}`, forgetFailed: true },
});

const isReached = (sql: Sql): Fragment => sql`exists (
  select from payment_providers provider
  where provider.organization_id = record.organization_id and provider.id = record.payment_provider_id
    and provider.provider_type = any (${NETWORK_TYPES}))`;

/** Charges that were not sent, payments whose event may be lost, customers who came back, and cancellations. */
async function sweepPayments({ sql, producer }: Work, at: Temporal.Instant): Promise<void> {
  const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
  const lookBefore = at.subtract({ minutes: LOOK_AFTER_MINUTES });
  const forgotten = at.subtract({ hours: FORGOTTEN_AFTER_DAYS * 24 });
  const unconfirmed = at.subtract({ hours: DAYS_TO_CONFIRM * 24 });
  const isUnconfirmed = sql`record.next_action <> '{}' and record.charged_at < ${unconfirmed}`;
  // One that is to end is looked at as soon as its days are over.
  const isAskedOften = sql`(record.is_transfer and record.created_at < ${forgotten}
      or ${isUnconfirmed} and record.looked_at >= record.charged_at + ${`${DAYS_TO_CONFIRM * 24} hours`}::interval)
    and record.looked_at >= ${at.subtract({ hours: FORGOTTEN_EVERY_HOURS })}`;
  const unsent = await takeInTurn<PaymentId>(sql, at, {
    table: 'payments',
    due: sql`record.payment_type = 'provider' and record.payment_status = 'pending' and record.error is null
      and record.updated_at < ${lost} and ${isReached(sql)}`,
  });
  await producer.addMany(
    'payment.charge',
    unsent.map(({ organization_id, id }) => once('charge', id, { organization_id, payment_id: id })),
  );
  const sent = await takeInTurn<PaymentId>(sql, at, {
    table: 'payments',
    due: sql`record.payment_type = 'provider' and record.payment_status = 'processing'
      and (record.provider_payment_id is not null or ${isUnconfirmed}) and record.updated_at < ${lookBefore}
      and coalesce(record.looked_at < ${lookBefore} and not (${isAskedOften}), true) and ${isReached(sql)}`,
  });
  await producer.addMany(
    'payment.look-after',
    sent.map(({ organization_id, id }) => once('look-after', id, { organization_id, payment_id: id })),
  );
  const returned = await takeInTurn<PaymentId>(sql, at, {
    table: 'payments',
    due: sql`record.payment_status = 'processing' and record.customer_return is not null
      and record.updated_at < ${lost}`,
  });
  await producer.addMany(
    'payment.look-after',
    returned.map(({ organization_id, id }) => once('look-after', id, { organization_id, payment_id: id })),
  );
  const canceled = await takeInTurn<PaymentId>(sql, at, {
    table: 'payments',
    due: sql`record.cancel_owed_at < ${lost} and record.provider_payment_id is not null`,
  });
  await producer.addMany(
    'payment.cancel',
    canceled.map(({ organization_id, id }) => once('cancel', id, { organization_id, payment_id: id })),
  );
}

/** Refunds that were not sent yet, and begun ones whose event may be lost. */
async function sweepRefunds({ sql, producer }: Work, at: Temporal.Instant): Promise<void> {
  const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
  const lookBefore = at.subtract({ minutes: LOOK_AFTER_MINUTES });
  const isWaiting = sql`exists (
    select from credit_notes note where note.organization_id = record.organization_id
      and note.id = record.credit_note_id and note.refund_status = 'pending')`;
  const unsent = await takeInTurn<CreditNoteId>(sql, at, {
    table: 'credit_note_refunds',
    id: 'credit_note_id',
    due: sql`record.provider_refund_id is null and record.error is null and record.updated_at < ${lost}
      and (record.sent_at is null or record.sent_at > ${at.subtract({ hours: GIVEN_UP_AFTER_HOURS })})
      and ${isWaiting} and ${isReached(sql)} and not exists (
        select from credit_notes note
        join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
          and invoice.payment_dispute_lost_at is not null
        where note.organization_id = record.organization_id and note.id = record.credit_note_id)`,
  });
  await producer.addMany(
    'payment.refund',
    unsent.map(({ organization_id, id }) => once('refund', id, { organization_id, credit_note_id: id })),
  );
  const begun = await takeInTurn<CreditNoteId>(sql, at, {
    table: 'credit_note_refunds',
    id: 'credit_note_id',
    due: sql`record.provider_refund_id is not null and record.status in ('pending', 'requires_action')
      and record.updated_at < ${lookBefore} and coalesce(record.looked_at < ${lookBefore}, true)
      and ${isWaiting} and ${isReached(sql)}`,
  });
  await producer.addMany(
    'payment.look-after-refund',
    begun.map(({ organization_id, id }) => once('look-after-refund', id, { organization_id, credit_note_id: id })),
  );
}

/** Customers that are to be made at their provider, and those whose methods there are to be read. */
async function sweepCustomers({ sql, producer }: Work, at: Temporal.Instant): Promise<void> {
  const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
  const unmade = await takeInTurn<CustomerId>(sql, at, {
    table: 'customers',
    due: sql`record.payment_provider_id is not null and record.provider_customer_id is null
      and record.deleted_at is null and record.updated_at < ${lost}`,
  });
  await producer.addMany(
    'payment.create-customer',
    unmade.map(({ organization_id, id }) => once('create-customer', id, { organization_id, customer_id: id })),
  );
  const linked = await takeInTurn<CustomerId>(sql, at, {
    table: 'customers',
    due: sql`record.methods_owed_at < ${lost} and record.deleted_at is null`,
  });
  await producer.addMany(
    'payment.import-methods',
    linked.map(({ organization_id, id }) => once('import-methods', id, { organization_id, customer_id: id })),
  );
}

/** Pages without an address, and closed ones that are still open at their provider. */
async function sweepPages({ sql, producer }: Work, at: Temporal.Instant): Promise<void> {
  const lost = at.subtract({ minutes: LOST_AFTER_MINUTES });
  const pages = await takeInTurn(sql, at, {
    table: 'payment_pages',
    due: sql`record.error is null and ${isReached(sql)}
      and (record.url = '' and record.closed_at is null and record.created_at < ${lost} and record.expires_at > ${at}
        or record.closed_at < ${lost} and record.ended_at is null and record.provider_page_id is not null
          and record.expires_at > ${at.subtract({ hours: PAGE_LIFE_HOURS })})`,
  });
  await producer.addMany(
    'payment.open-page',
    pages.map(({ organization_id, id }) => once('open-page', id, { organization_id, page_id: id })),
  );
}
