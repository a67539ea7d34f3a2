import { Temporal } from 'temporal-polyfill';
import type { Config } from '../../../platform/config.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { type FieldErrors, Refusal } from '../../../platform/refusal.ts';
import type { Books } from '../../catalog/model-books/model-books.ts';
import type { Catalog } from '../../catalog/usage-shapes/storing-catalog.ts';
import { countUsage } from '../budget-windows/count-usage.ts';
import type { CalledWindow, SettledEntry } from '../budget-windows/decide-call.ts';
import type { Subscribers } from '../budget-windows/subscribers.ts';
import { errorsOf } from '../events/answer-text.ts';
import type { IncomingBatch, IncomingEvent, Verdict } from '../events/incoming-event.ts';
import { parseProperties } from '../events/property-json.ts';
import { readEvents } from '../events/read-request.ts';
import { prepareEvent } from '../events/storage/prepare-event.ts';
import type { HoldRow } from './queries.ts';

export interface Sender {
  organizationId: OrganizationId;
  sandbox: boolean;
  /** ISO text with microseconds. */
  receivedAt: string;
}

/** An event that settles a hold, or why it cannot. */
export type SettlingEvent = { batch: IncomingBatch } | { errors: FieldErrors };

/**
 * The event of a settlement as it is stored, for the subscription of the hold.
 *
 * @throws Refusal of another kind than 422
 */
export async function readSettlingEvent(
  given: Record<string, unknown>,
  hold: HoldRow,
  { sender, config }: { sender: Sender; config: Config },
): Promise<SettlingEvent> {
  const event = { external_subscription_id: hold.external_subscription_id, ...given };
  if (event.external_subscription_id !== hold.external_subscription_id)
    return { errors: { external_subscription_id: ['value_is_invalid'] } };
  try {
    const { batch } = await readEvents(
      'single',
      { event },
      {
        limits: config,
        sender: {
          organization_id: sender.organizationId,
          sandbox: sender.sandbox,
          received_at: sender.receivedAt,
          user_agent: null,
          remote_address: null,
        },
      },
    );
    // Its entry is that of the settlement, in the windows of the hold's time.
    return { batch: { ...batch, isHeld: true } };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error;
    return { errors: error.body.error_details as FieldErrors };
  }
}

/** What became of a settling event. */
export interface StoredEvent {
  transactionId: string;
  isReplayed: boolean;
}

export const storedOf = (
  { transaction_id }: IncomingEvent,
  verdict: Verdict,
): StoredEvent | { errors: FieldErrors } => {
  const errors = errorsOf(verdict);
  if (errors) return { errors };
  return { transactionId: transaction_id, isReplayed: typeof verdict === 'object' && 'r' in verdict };
};

/**
 * What a stored event counts: in every budget that matches it now, in the window of the hold's time.
 * Rule: budgets.md#holds.
 */
export function entriesOfEvent(
  batch: IncomingBatch,
  hold: HoldRow,
  {
    catalog,
    subscribers,
    present,
    books,
  }: { catalog: Catalog; subscribers: Subscribers; present: string | null; books: Books },
): { windows: CalledWindow[]; entries: SettledEntry[] } {
  const [event] = batch.events;
  const prepared = prepareEvent(event!, batch, catalog, { present, books });
  if (prepared instanceof Refusal) return { windows: [], entries: [] };
  const counts = countUsage(
    catalog.budgets,
    {
      external_subscription_id: event!.external_subscription_id,
      code: event!.code,
      properties: parseProperties(prepared.properties),
      precise_total_amount_cents: prepared.event.precise_total_amount_cents,
    },
    { at: Temporal.Instant.from(hold.created_at), subscribers },
  );
  return {
    windows: counts.map(({ window }) => window),
    entries: counts.map(({ window, amount }) => [window.id, amount.toFixed(), 'settlement']),
  };
}
