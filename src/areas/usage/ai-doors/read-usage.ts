import { refuse } from '../../../platform/refusal.ts';
import type { Pause } from '../../../platform/turns/turns.ts';
import { BATCH_PROPERTIES_MAX, type EventLimits, mostEvents } from '../events/batch-limits.ts';
import type { IncomingBatch } from '../events/incoming-event.ts';
import { type EventFault, type EventsForm, memberOf } from '../events/read-request.ts';
import type { SubscriptionOf } from './door-facts.ts';
import type { DoorSettings } from './door-settings.ts';
import { BODY_MAX_BYTES } from './schema.ts';
import { type Subject, subscriptionOf } from './subjects.ts';
import { keyIn, readUsageItem, type Sent, subjectsOf, type UsageItem } from './usage-item.ts';

/** Usage of a request as it travels to the worker that stores it. */
export interface UsageInput {
  form: EventsForm;
  sender: Omit<IncomingBatch, 'atomic' | 'events'>;
  /** In the order sent. */
  items: UsageItem[];
  /** They came as CloudEvents, whose attributes errors name. */
  isOfCloudEvents?: true;
  /** They came as records of another program, which has no fields of ours. */
  isOfRecords?: true;
}

/** An item before its subscription is known. */
export interface SentItem {
  /** Fields of `ai_usage`; undefined for what is no object. */
  sent: Sent | undefined;
  /** Whose usage it may be, beside its own field. */
  subjects: readonly Subject[];
  /** Records whose members may be the external id of a subscription. */
  records: readonly unknown[];
  /** What is wrong with its envelope. */
  refused?: EventFault;
}

interface ReadOptions {
  sender: UsageInput['sender'];
  settings: DoorSettings;
  /** Finds subscriptions of all subjects of a request together. */
  find(subjects: readonly Subject[]): Promise<SubscriptionOf>;
  /** Called between two items of a list. */
  pause?: Pause;
  /** Whether items may settle holds; see readUsageItem. */
  holds?: 'named' | 'given';
}

/**
 * Reads usage of models: each item is extracted, checked, and becomes an event or a fault.
 *
 * @throws Refusal 413 of canonical properties beyond 5 MiB
 */
export async function readUsageItems(
  items: readonly SentItem[],
  { sender, settings, find, pause, holds }: ReadOptions,
): Promise<UsageItem[]> {
  const keyed = items.map(({ records }) => firstKey(records, settings));
  // Whom a key names is not looked up.
  const mapped = await find(items.flatMap(({ subjects }, index) => (keyed[index] === undefined ? subjects : [])));
  const read: UsageItem[] = [];
  let characters = 0;
  for (const [index, { sent, subjects, refused }] of items.entries()) {
    await pause?.();
    const subscription = keyed[index] ?? subscriptionOf(subjects, mapped);
    const item: UsageItem =
      refused || sent === undefined
        ? { fault: refused ?? { transaction_id: null, errors: { ai_usage: ['value_is_invalid'] } } }
        : readUsageItem(sent, { settings, subscription, at: sender.received_at, holds });
    if ('call' in item) for (const { properties } of item.call.events) characters += properties.length;
    if (characters > BATCH_PROPERTIES_MAX) throw refuse.tooLarge();
    read.push(item);
  }
  return read;
}

function firstKey(records: readonly unknown[], { subscriptionKeys }: DoorSettings) {
  for (const record of records) {
    const key = keyIn(record, subscriptionKeys);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** Items of a body in our own form. @throws Refusal 400 without the root of a single one; 422 ai_usages */
export function plainItems(form: EventsForm, body: unknown, limits: EventLimits): SentItem[] {
  if (form === 'single') {
    const sent = memberOf(body, 'ai_usage');
    if (!isSent(sent) || Object.keys(sent).length === 0) throw refuse.missingRoot('ai_usage');
    return [itemOf(sent)];
  }
  return listOf('ai_usages', memberOf(body, 'ai_usages'), mostEvents(form, limits)).map(itemOf);
}

/** @throws Refusal 422 of the root: no_events, too_many_events */
export function listOf(root: string, sent: unknown, most: number): unknown[] {
  if (!Array.isArray(sent) || sent.length === 0) throw refuse.invalid({ [root]: ['no_events'] });
  if (sent.length > most) throw refuse.invalid({ [root]: ['too_many_events'] });
  return sent;
}

/** @throws Refusal 413 of a provider's body above 256 KiB */
export function refuseLargeBodies(items: readonly SentItem[]): void {
  for (const { sent } of items) {
    const body = sent?.body;
    if (typeof body === 'object' && Buffer.byteLength(JSON.stringify(body)) > BODY_MAX_BYTES) throw refuse.tooLarge();
  }
}

/** What an item of our own form says about whose usage it is. */
export const itemOf = (sent: unknown): SentItem =>
  isSent(sent)
    ? { sent, subjects: subjectsOf(sent), records: [memberOf(sent, 'properties')] }
    : { sent: undefined, subjects: [], records: [] };

const isSent = (value: unknown): value is Sent => typeof value === 'object' && value !== null && !Array.isArray(value);
