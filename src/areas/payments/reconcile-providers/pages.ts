import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CreditNoteId, PaymentId, PaymentProviderId } from '../../../platform/ids.ts';
import type { Listed } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import type { Connected } from '../provider-network/network.ts';
import {
  type Compared,
  compareDisputes,
  comparePayments,
  compareRefunds,
  listPaymentsMissingThere,
  listRefundsMissingThere,
} from './compare-lists.ts';
import { compareMethods } from './compare-methods.ts';

/** What a run reads of one connection, one after the other. */
export const PHASES = [
  'payments',
  'refunds',
  'disputes',
  'unlisted payments',
  'unlisted refunds',
  'open payments',
  'open refunds',
  'methods',
] as const;
export type Phase = (typeof PHASES)[number];

/** Where a run goes on. */
export interface Place {
  connection_id: PaymentProviderId;
  phase: Phase;
  /** The cursor within the phase; null: its beginning. */
  at: string | null;
}

export interface RunWindow {
  runId: string;
  from: Temporal.Instant;
  to: Temporal.Instant | null;
  startedAt: Temporal.Instant;
}

interface PageRead {
  /** Null: the phase has no other page. */
  next: string | null;
  compare(ctx: Context): Promise<readonly Compared[]>;
}

/** How much earlier than ours a payment may have been made there: a page makes it when it is opened. */
const EARLIER_THERE_HOURS = 48;
/** How much later ours may be listed there than it was made here. */
const SETTLED_AFTER_HOURS = 1;

/**
 * Reads one page of a phase from the provider, and says how it is compared.
 *
 * @returns undefined, where the connection cannot do it or has nothing of it
 * @throws ProviderRefusal, Outage
 */
export async function readPage(
  scope: Scope,
  { row, provider }: Connected,
  { phase, at }: Place,
  window: RunWindow,
): Promise<PageRead | undefined> {
  const lists = can(row, 'list');
  const request = {
    sinceSeconds: secondsOf(window.from.subtract({ hours: EARLIER_THERE_HOURS })),
    untilSeconds: window.to === null ? null : secondsOf(window.to),
    cursor: at,
  };
  const latest = window.startedAt.subtract({ hours: SETTLED_AFTER_HOURS });
  const before = window.to && Temporal.Instant.compare(window.to, latest) < 0 ? window.to : latest;
  const missing = { runId: window.runId, from: window.from, before, after: at };
  switch (phase) {
    case 'payments':
      return lists && provider.listPayments
        ? paged(await provider.listPayments(request), (ctx, items) => comparePayments(ctx, row, items, realNow()))
        : undefined;
    case 'refunds':
      return lists && provider.listRefunds
        ? paged(await provider.listRefunds(request), (ctx, items) => compareRefunds(ctx, row, items, realNow()))
        : undefined;
    case 'disputes':
      return lists && provider.listDisputes
        ? paged(await provider.listDisputes(request), (ctx, items) => compareDisputes(ctx, row, items))
        : undefined;
    case 'unlisted payments':
      return lists && provider.listPayments ? ours(await listPaymentsMissingThere(scope, row, missing)) : undefined;
    case 'unlisted refunds':
      return lists && provider.listRefunds ? ours(await listRefundsMissingThere(scope, row, missing)) : undefined;
    case 'open payments':
      return can(row, 'read') ? readOpenPayment(scope, { row, provider }, window, at) : undefined;
    case 'open refunds':
      return can(row, 'read') ? readOpenRefund(scope, { row, provider }, window, at) : undefined;
    case 'methods':
      return compareMethods(scope, { row, provider }, at);
  }
}

const secondsOf = (at: Temporal.Instant): number => Math.trunc(at.epochMilliseconds / 1000);

const paged = <Item>(
  { items, next }: Listed<Item>,
  compare: (ctx: Context, items: readonly Item[]) => Promise<Compared[]>,
): PageRead => ({ next, compare: (ctx) => compare(ctx, items) });

const ours = ({ last, items }: { last: string | null; items: Compared[] }): PageRead => ({
  next: last,
  compare: async () => items,
});

/** Condition: the provider has not listed an object in this run, for it may be older than what is listed. */
const isUnseen = ({ db }: Scope, runId: string, column: 'provider_payment_id' | 'provider_refund_id') => db`
  not exists (select from provider_objects_seen seen
    where seen.run_id = ${runId} and seen.object_id = record.${db(column)})`;

/** The next payment of ours that is not final and was not listed: it is read by itself. */
async function readOpenPayment(
  scope: Scope,
  { row, provider }: Connected,
  { runId }: RunWindow,
  after: string | null,
): Promise<PageRead | undefined> {
  const { db, organizationId } = scope;
  const [open] = await db<{ id: PaymentId; provider_payment_id: string }[]>`
    select record.id, record.provider_payment_id from payments record
    where record.organization_id = ${organizationId} and record.payment_provider_id = ${row.id}
      and record.payment_type = 'provider' and record.payment_status in ('pending', 'processing')
      and record.provider_payment_id is not null and ${isUnseen(scope, runId, 'provider_payment_id')}
      ${after === null ? db`` : db`and record.id > ${after}`}
    order by record.id limit 1`;
  if (!open) return undefined;
  const { provider_payment_id: providerPaymentId } = open;
  const told = await provider.readPayment(providerPaymentId);
  return {
    next: open.id,
    compare: async (ctx) =>
      told.kind === 'answered'
        ? comparePayments(ctx, row, [{ ...told, providerPaymentId, metadata: {} }], realNow())
        : [],
  };
}

/** The same of refunds. */
async function readOpenRefund(
  scope: Scope,
  { row, provider }: Connected,
  { runId }: RunWindow,
  after: string | null,
): Promise<PageRead | undefined> {
  const { db, organizationId } = scope;
  const [open] = await db<{ credit_note_id: CreditNoteId; provider_refund_id: string }[]>`
    select record.credit_note_id, record.provider_refund_id from credit_note_refunds record
    join credit_notes note on note.organization_id = record.organization_id and note.id = record.credit_note_id
      and note.refund_status = 'pending'
    where record.organization_id = ${organizationId} and record.payment_provider_id = ${row.id}
      and record.provider_refund_id is not null and ${isUnseen(scope, runId, 'provider_refund_id')}
      ${after === null ? db`` : db`and record.credit_note_id > ${after}`}
    order by record.credit_note_id limit 1`;
  if (!open) return undefined;
  const { provider_refund_id: providerRefundId } = open;
  const { status } = await provider.readRefund(providerRefundId);
  const item = { providerRefundId, providerPaymentId: '', status, metadata: {} };
  return { next: open.credit_note_id, compare: (ctx) => compareRefunds(ctx, row, [item], realNow()) };
}
