import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PaymentProviderId } from '../../../platform/ids.ts';
import type { Listed } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import type { Connected } from '../provider-network/network.ts';
import { type Compared, compareDisputes, comparePayments, compareRefunds } from './compare-lists.ts';
import { compareMethods } from './compare-methods.ts';
import {
  type OursInWindow,
  readOpenPayment,
  readOpenRefund,
  readUnlistedPayment,
  readUnlistedRefund,
} from './read-one-by-one.ts';

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
 * @throws ProviderRefusal, CredentialsRefused, other Outages
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
  const isListCut = window.to !== null && Temporal.Instant.compare(window.to, latest) < 0;
  const before = isListCut ? window.to! : latest;
  const ours: OursInWindow = { runId: window.runId, from: window.from, before, isListCut, after: at };
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
        ? paged(await provider.listDisputes(request), (ctx, items) => compareDisputes(ctx, row, items, realNow()))
        : undefined;
    case 'unlisted payments':
      return lists && provider.listPayments ? readUnlistedPayment(scope, { row, provider }, ours) : undefined;
    case 'unlisted refunds':
      return lists && provider.listRefunds ? readUnlistedRefund(scope, { row, provider }, ours) : undefined;
    case 'open payments':
      return can(row, 'read') ? readOpenPayment(scope, { row, provider }, ours) : undefined;
    case 'open refunds':
      return can(row, 'read') ? readOpenRefund(scope, { row, provider }, ours) : undefined;
    case 'methods':
      return compareMethods(scope, { row, provider }, at);
  }
}

const secondsOf = (at: Temporal.Instant): number => Math.trunc(at.epochMilliseconds / 1000);

const paged = <Item>(
  { items, next }: Listed<Item>,
  compare: (ctx: Context, items: readonly Item[]) => Promise<Compared[]>,
): PageRead => ({ next, compare: (ctx) => compare(ctx, items) });
