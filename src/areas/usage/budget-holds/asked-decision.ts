import type { HoldName, UsageItem } from '../ai-doors/usage-item.ts';
import type { IncomingBatch } from '../events/incoming-event.ts';
import type { DecisionInput, HoldSettle, Settlement } from './schema.ts';

/**
 * A settlement as it travels to the worker: usage of a model is read, and nothing of its content is left. Usage that
 * came to a door beside other calls may settle no hold.
 */
export interface AskedSettlement extends Pick<Settlement, 'event' | 'amount'> {
  hold_key?: string | undefined;
  svc_hold_id?: string | undefined;
  usage?: UsageItem | undefined;
}

/** What a decision asks, beside what it settles. */
export type AskedQuestion = Omit<DecisionInput, 'settle'>;

/** A decision as it travels to the worker. */
export interface AskedDecision extends AskedQuestion {
  settle?: AskedSettlement[] | null | undefined;
  /** Who sent usage of models, and when; absent if there is none. */
  sender?: UsageSender | undefined;
  /** Usage came to a door of its own, which answers with the verdicts on its events. */
  door?: Door | undefined;
}

export interface Door {
  /** All calls are stored or none. */
  isAtomic: boolean;
}

export type UsageSender = Omit<IncomingBatch, 'atomic' | 'events'>;

/** A decision that only settles. */
export const onlySettles = (
  settle: AskedSettlement[],
  more: Pick<AskedDecision, 'sender' | 'door'> = {},
): AskedDecision => ({
  hold_key: null,
  code: null,
  external_subscription_id: '',
  expires_in_seconds: 1,
  settle,
  ...more,
});

/** A decision, or a settlement of one hold, as it was checked. */
export type SettlingBody = DecisionInput | HoldSettle;

/** Usage of models as it was sent, of each settlement that has one. */
export const usageIn = (body: SettlingBody): unknown[] =>
  (isDecision(body) ? (body.settle ?? []) : [body]).flatMap(({ usage }) => usage ?? []);

/** The same body with usage as it was read; `items` are in the order of `usageIn`. */
export function withReadUsage(
  body: SettlingBody,
  items: readonly UsageItem[],
  sender: UsageSender,
): { body: AskedDecision } | SettleInput {
  if (!isDecision(body)) return { body: { event: body.event, amount: body.amount }, usage: items[0], sender };
  const read = [...items];
  const settle = (body.settle ?? []).map(({ usage: sent, ...settlement }) => ({
    ...settlement,
    ...(sent ? { usage: read.shift() } : {}),
  }));
  return { body: { ...body, settle, sender } };
}

const isDecision = (body: SettlingBody): body is DecisionInput => 'hold_key' in body;

/** A settlement of one hold as it travels to the worker. */
export interface SettleInput {
  body: Pick<HoldSettle, 'event' | 'amount'>;
  usage?: UsageItem | undefined;
  sender?: UsageSender | undefined;
}

/** Calls that came to a door, each with the hold that it names. */
export const heldCalls = (items: readonly UsageItem[]): AskedSettlement[] =>
  items.flatMap((usage): AskedSettlement[] => {
    if (!('call' in usage)) return [];
    const { hold } = usage.call;
    if (!hold) return [{ usage }];
    return ['id' in hold ? { svc_hold_id: hold.id, usage } : { hold_key: hold.key, usage }];
  });

/** The hold that a settlement names. */
export const holdNameOf = ({ svc_hold_id: id, hold_key: key }: AskedSettlement): HoldName | undefined =>
  id !== undefined ? { id } : key !== undefined ? { key } : undefined;
