import { Temporal } from 'temporal-polyfill';
import { isMoney } from '../../../engine/budgets/budget.ts';
import { type Decimal, sum } from '../../../engine/money/decimal.ts';
import type { Config } from '../../../platform/config.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { type FieldErrors, Refusal } from '../../../platform/refusal.ts';
import type { Books } from '../../catalog/model-books/model-books.ts';
import type { Catalog } from '../../catalog/usage-shapes/storing-catalog.ts';
import type { UsageCall } from '../ai-doors/usage-item.ts';
import { countUsage } from '../budget-windows/count-usage.ts';
import type { CalledWindow, SettledEntry } from '../budget-windows/decide-call.ts';
import type { PlacedWindow } from '../budget-windows/place-usage.ts';
import type { Subscribers } from '../budget-windows/subscribers.ts';
import { errorsOf } from '../events/answer-text.ts';
import type { IncomingBatch, IncomingEvent, Verdict } from '../events/incoming-event.ts';
import { parseProperties } from '../events/property-json.ts';
import { readEvents } from '../events/read-request.ts';
import { type PreparedEvent, prepareEvent } from '../events/storage/prepare-event.ts';
import type { UsageSender } from './asked-decision.ts';
import type { HoldRow } from './queries.ts';

export interface Sender {
  organizationId: OrganizationId;
  sandbox: boolean;
  /** ISO text with microseconds. */
  receivedAt: string;
}

/** The events of a settlement, or why they cannot be stored. */
export type SettlingBatch = { batch: IncomingBatch } | { errors: FieldErrors };

/**
 * The event of a settlement as it is stored, for the subscription of the hold.
 *
 * @throws Refusal of another kind than 422
 */
export async function readSettlingEvent(
  given: Record<string, unknown>,
  hold: HoldRow,
  { sender, config }: { sender: Sender; config: Config },
): Promise<SettlingBatch> {
  const event = { external_subscription_id: hold.external_subscription_id, ...given };
  if (event.external_subscription_id !== hold.external_subscription_id)
    return { errors: { external_subscription_id: ['value_is_invalid'] } };
  try {
    const { batch } = await readEvents('single', { event }, { limits: config, sender: plainSender(sender) });
    // Its entry is that of the settlement, in the windows of the hold's time.
    return { batch: { ...batch, isHeld: true } };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error;
    return { errors: error.body.error_details as FieldErrors };
  }
}

const plainSender = ({ organizationId, sandbox, receivedAt }: Sender): UsageSender => ({
  organization_id: organizationId,
  sandbox,
  received_at: receivedAt,
  user_agent: null,
  remote_address: null,
});

/**
 * The events of a call, for the subscription of the hold that it settles.
 *
 * hold  undefined: it settles none, and counts as any other usage
 */
export function batchOfCall({ events }: UsageCall, hold: HoldRow | undefined, sender: UsageSender): SettlingBatch {
  if (!hold) return { batch: { ...sender, atomic: true, events } };
  const { external_subscription_id } = hold;
  const isOfOther = events.some(({ external_subscription_id: id }) => id !== '' && id !== external_subscription_id);
  if (isOfOther) return { errors: { external_subscription_id: ['value_is_invalid'] } };
  const own = events.map((event) => ({ ...event, external_subscription_id }));
  return { batch: { ...sender, atomic: true, isHeld: true, events: own } };
}

/** What became of the events of a settlement. */
export interface StoredCall {
  /** Of the event, or of the call whose parts the events are. */
  transactionId: string;
  /** All of them had come before. */
  isReplayed: boolean;
  /** Positions of those that are new. */
  stored: number[];
}

/** @returns why an event was not stored, if one was not */
export function storedOf(transactionId: string, verdicts: readonly Verdict[]): StoredCall | { errors: FieldErrors } {
  for (const verdict of verdicts) {
    const errors = errorsOf(verdict);
    if (errors) return { errors };
  }
  const stored = verdicts.flatMap((verdict, index) => (isReplay(verdict) ? [] : [index]));
  return { transactionId, isReplayed: stored.length === 0, stored };
}

export const isReplay = (verdict: Verdict): boolean => typeof verdict === 'object' && 'r' in verdict;

interface Counting {
  catalog: Catalog;
  subscribers: Subscribers;
  books: Books;
  present: string | null;
  /** Windows that the hold has parts in. */
  held: readonly CalledWindow[];
}

/**
 * What new events of a settlement count: in every budget that matches them now, in the window of the hold's time. Where
 * the price of a call is not known, what was held stays counted, as long as that is so.
 *
 * Rule: budgets.md#holds.
 */
export function entriesOfEvents(
  batch: IncomingBatch,
  hold: HoldRow,
  { stored, ...facts }: Counting & Pick<StoredCall, 'stored'>,
): { windows: CalledWindow[]; entries: SettledEntry[] } {
  const { catalog, books, present } = facts;
  const events = stored.map((index) => batch.events[index]!);
  const prepared = events.flatMap((event): PreparedEvent[] => {
    const each = prepareEvent(event, batch, catalog, { present, books });
    return each instanceof Refusal ? [] : [each];
  });
  const at = Temporal.Instant.from(hold.created_at);
  const counts = new Map<string, { window: PlacedWindow; amounts: Decimal[] }>();
  for (const { event, properties } of prepared) {
    const usage = { ...event, properties: parseProperties(properties) };
    for (const { window, amount } of countUsage(catalog.budgets, usage, { at, subscribers: facts.subscribers })) {
      const known = counts.get(window.id) ?? { window, amounts: [] };
      known.amounts.push(amount);
      counts.set(window.id, known);
    }
  }
  const unknown = new Set(facts.held.flatMap((window) => (isUnknown(window, events, counts) ? [window.id] : [])));
  const entries = [...counts.values()].flatMap(({ window, amounts }): SettledEntry[] =>
    unknown.has(window.id) ? [] : [[window.id, sum(amounts).toFixed(), 'settlement']],
  );
  return {
    windows: [...counts.values()].map(({ window }) => window),
    entries: [...entries, ...[...unknown].map((id): SettledEntry => [id, null, 'provisional'])],
  };
}

/** Whether a window of money lacks the figure of a call, or of one of its parts; what came before has its own. */
function isUnknown(
  window: CalledWindow,
  events: readonly IncomingEvent[],
  counts: ReadonlyMap<string, { amounts: readonly Decimal[] }>,
): boolean {
  if (!('budget' in window) || !isMoney(window.budget.measure)) return false;
  return events.some(({ ai }) => ai) && (counts.get(window.id)?.amounts.length ?? 0) < events.length;
}
