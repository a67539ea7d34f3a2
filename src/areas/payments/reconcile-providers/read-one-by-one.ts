import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CreditNoteId, CustomerId, PaymentId } from '../../../platform/ids.ts';
import { type PaymentProvider, ReadRefused } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import type { ProviderRow } from '../../customers/payment-providers/queries.ts';
import type { Connected } from '../provider-network/network.ts';
import { type Compared, comparePayments, compareRefunds } from './compare-lists.ts';

/** What of our records is looked for at the provider. */
export interface OursInWindow {
  runId: string;
  from: Temporal.Instant;
  /** Later ones may have been made after the list was read. */
  before: Temporal.Instant;
  /** Whether the list ended before what was sent again later. */
  isListCut: boolean;
  /** The last id of the page before. */
  after: string | null;
}

interface PageRead {
  /** Null: there are no more. */
  next: string | null;
  compare(ctx: Context): Promise<readonly Compared[]>;
}

/** How many of our records a statement looks at for one that was not listed. */
export const LOOKED_AT_ONCE = 5000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Condition: the provider has not listed an object in this run. Looked up for each record, which `offset 0` demands: of
 * a young run Postgres knows nothing, and a join would compare each record with every object.
 */
const isUnseen = (
  { db }: Scope,
  { row, runId }: { row: ProviderRow; runId: string },
  column: 'provider_payment_id' | 'provider_refund_id',
) => db`
  not exists (select from provider_objects_seen seen
    where seen.run_id = ${runId} and seen.connection_id = ${row.id} and seen.object_id = record.${db(column)}
    offset 0)`;

/** Asks for the state of an object; `refused`: the provider has none. @throws CredentialsRefused, other Outages */
async function ask<State>(read: () => Promise<State>): Promise<State | 'refused'> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ReadRefused) return 'refused';
    throw error;
  }
}

async function comparedPayment(
  ctx: Context,
  row: ProviderRow,
  providerPaymentId: string,
  told: Awaited<ReturnType<PaymentProvider['readPayment']>>,
): Promise<Compared[]> {
  if (told.kind !== 'answered') return [];
  return comparePayments(ctx, row, [{ ...told, providerPaymentId, metadata: {} }], realNow());
}

const comparedRefund = (
  ctx: Context,
  row: ProviderRow,
  providerRefundId: string,
  { status }: { status: string },
): Promise<Compared[]> =>
  compareRefunds(ctx, row, [{ providerRefundId, providerPaymentId: '', status, metadata: {} }], realNow());

/** The next payment of ours that is not final and was not listed, for it may be older than what is listed. */
export async function readOpenPayment(
  scope: Scope,
  { row, provider }: Connected,
  { runId, after }: Pick<OursInWindow, 'runId' | 'after'>,
): Promise<PageRead | undefined> {
  const { db, organizationId } = scope;
  const [open] = await db<{ id: PaymentId; provider_payment_id: string }[]>`
    select record.id, record.provider_payment_id from payments record
    where record.organization_id = ${organizationId} and record.payment_provider_id = ${row.id}
      and record.payment_type = 'provider' and record.payment_status in ('pending', 'processing')
      and record.provider_payment_id is not null and ${isUnseen(scope, { row, runId }, 'provider_payment_id')}
      ${after === null ? db`` : db`and record.id > ${after}`}
    order by record.id limit 1`;
  if (!open) return undefined;
  const { provider_payment_id: objectId } = open;
  const told = await ask(() => provider.readPayment(objectId));
  return {
    next: open.id,
    compare: async (ctx) =>
      told === 'refused' ? [{ objectId, verdict: 'unreadable' }] : comparedPayment(ctx, row, objectId, told),
  };
}

/** The same of refunds. */
export async function readOpenRefund(
  scope: Scope,
  { row, provider }: Connected,
  { runId, after }: Pick<OursInWindow, 'runId' | 'after'>,
): Promise<PageRead | undefined> {
  const { db, organizationId } = scope;
  const [open] = await db<{ credit_note_id: CreditNoteId; provider_refund_id: string }[]>`
    select record.credit_note_id, record.provider_refund_id from credit_note_refunds record
    join credit_notes note on note.organization_id = record.organization_id and note.id = record.credit_note_id
      and note.refund_status = 'pending'
    where record.organization_id = ${organizationId} and record.payment_provider_id = ${row.id}
      and record.provider_refund_id is not null and ${isUnseen(scope, { row, runId }, 'provider_refund_id')}
      ${after === null ? db`` : db`and record.credit_note_id > ${after}`}
    order by record.credit_note_id limit 1`;
  if (!open) return undefined;
  const { provider_refund_id: objectId } = open;
  const told = await ask(() => provider.readRefund(objectId));
  return {
    next: open.credit_note_id,
    compare: async (ctx) =>
      told === 'refused' ? [{ objectId, verdict: 'unreadable' }] : comparedRefund(ctx, row, objectId, told),
  };
}

/** What a statement has looked at: the first record that was not listed, else the last one where there may be more. */
interface Looked<Id> {
  unseen_id: Id | null;
  last_id: Id | null;
  count: number;
}

/** Where a page ends that has found every record listed; undefined after the last record. */
const seenPage = ({ last_id, count }: Looked<string>): PageRead | undefined =>
  count === LOOKED_AT_ONCE ? { next: last_id, compare: async () => [] } : undefined;

/**
 * The next payment that succeeded here, newest first, and that the list of the provider lacks. It may have been made
 * there before what is listed, as we know a payment of a page only when it is paid; so it is read before it is missing.
 * Of a provider that reads no payment, only those count that were charged by us, which cannot be older there.
 */
export async function readUnlistedPayment(
  scope: Scope,
  { row, provider }: Connected,
  { runId, from, before, after, isListCut }: OursInWindow,
): Promise<PageRead | undefined> {
  const { db, organizationId } = scope;
  const reads = can(row, 'read');
  const [looked] = await db<Looked<PaymentId>[]>`
    with record as materialized (
      select payment.id, payment.created_at, payment.provider_payment_id from payments payment
      where payment.organization_id = ${organizationId} and payment.payment_provider_id = ${row.id}
        and payment.provider_payment_id is not null and payment.payment_status = 'succeeded'
        and payment.created_at >= ${from} and payment.created_at < ${before}
        ${reads ? db`` : db`and payment.charged_at < ${before}`}
        ${reads || !isListCut ? db`` : db`and payment.charge_attempts = 1`}
        ${
          after === null
            ? db``
            : db`and (payment.created_at, payment.id) < (
          select last.created_at, last.id from payments last
          where last.organization_id = ${organizationId} and last.id = ${after})`
        }
      order by payment.created_at desc, payment.id desc limit ${LOOKED_AT_ONCE})
    select (select id from record where ${isUnseen(scope, { row, runId }, 'provider_payment_id')}
        order by created_at desc, id desc limit 1) as unseen_id,
      (select id from record order by created_at, id limit 1) as last_id, (select count(*) from record) as count`;
  const id = looked!.unseen_id;
  if (id === null) return seenPage(looked!);
  const [payment] = await db<UnlistedPayment[]>`
    select id, customer_id, provider_payment_id, status, payment_status, amount_cents, amount_currency from payments
    where organization_id = ${organizationId} and id = ${id}`;
  const { provider_payment_id: objectId } = payment!;
  const told = reads ? await ask(() => provider.readPayment(objectId)) : 'refused';
  return {
    next: id,
    compare: async (ctx) =>
      told === 'refused' ? [missingPayment(payment!)] : comparedPayment(ctx, row, objectId, told),
  };
}

interface UnlistedPayment {
  id: PaymentId;
  customer_id: CustomerId;
  provider_payment_id: string;
  status: string;
  payment_status: string;
  amount_cents: number;
  amount_currency: string;
}

const missingPayment = (payment: UnlistedPayment): Compared => ({
  objectId: payment.provider_payment_id,
  repairsItself: false,
  drift: {
    kind: 'payment_missing_there',
    objectId: payment.provider_payment_id,
    ours: {
      status: payment.payment_status,
      provider_status: payment.status,
      amount_cents: payment.amount_cents,
      currency: payment.amount_currency,
    },
    theirs: null,
    paymentId: payment.id,
    customerId: payment.customer_id,
  },
});

/** The same of refunds: those that are paid or on their way, and those of which nobody knows whether they were made. */
export async function readUnlistedRefund(
  scope: Scope,
  { row, provider }: Connected,
  { runId, from, before, after }: OursInWindow,
): Promise<PageRead | undefined> {
  const { db, organizationId } = scope;
  const reads = can(row, 'read');
  const [looked] = await db<Looked<CreditNoteId>[]>`
    with record as materialized (
      select refund.credit_note_id, refund.provider_refund_id from credit_note_refunds refund
      join credit_notes note on note.organization_id = refund.organization_id and note.id = refund.credit_note_id
      where refund.organization_id = ${organizationId} and refund.payment_provider_id = ${row.id}
        and note.refund_status in ('pending', 'succeeded')
        and (refund.sent_at is not null ${reads ? db`or refund.provider_refund_id is not null` : db``})
        and coalesce(refund.sent_at, refund.created_at) >= ${from}
        and coalesce(refund.sent_at, refund.created_at) < ${before} and refund.credit_note_id > ${after ?? FIRST_ID}
      order by refund.credit_note_id limit ${LOOKED_AT_ONCE})
    select (select credit_note_id from record where not exists (select from provider_objects_seen seen
          where seen.run_id = ${runId} and seen.connection_id = ${row.id}
            and seen.object_id in (record.provider_refund_id, record.credit_note_id::text) offset 0)
        order by credit_note_id limit 1) as unseen_id,
      (select credit_note_id from record order by credit_note_id desc limit 1) as last_id,
      (select count(*) from record) as count`;
  const id = looked!.unseen_id;
  if (id === null) return seenPage(looked!);
  const [refund] = await db<UnlistedRefund[]>`
    select refund.credit_note_id, refund.provider_refund_id, refund.payment_id, note.customer_id, note.refund_status,
      note.refund_amount_cents, note.currency
    from credit_note_refunds refund
    join credit_notes note on note.organization_id = refund.organization_id and note.id = refund.credit_note_id
    where refund.organization_id = ${organizationId} and refund.credit_note_id = ${id}`;
  const objectId = refund!.provider_refund_id;
  const told = reads && objectId !== null ? await ask(() => provider.readRefund(objectId)) : 'refused';
  return {
    next: id,
    compare: async (ctx) => (told === 'refused' ? [missingRefund(refund!)] : comparedRefund(ctx, row, objectId!, told)),
  };
}

interface UnlistedRefund {
  credit_note_id: CreditNoteId;
  provider_refund_id: string | null;
  payment_id: PaymentId;
  customer_id: CustomerId;
  refund_status: string;
  refund_amount_cents: number;
  currency: string;
}

function missingRefund(refund: UnlistedRefund): Compared {
  const { refund_status: status, refund_amount_cents: amount_cents, currency } = refund;
  const { credit_note_id, provider_refund_id } = refund;
  const objectId = provider_refund_id ?? credit_note_id;
  return {
    objectId,
    repairsItself: false,
    drift: {
      kind: 'refund_missing_there',
      objectId,
      ours: { status, amount_cents, currency, credit_note_id, provider_refund_id },
      theirs: null,
      paymentId: refund.payment_id,
      customerId: refund.customer_id,
    },
  };
}
