import { TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { MANDATORY } from '../../../platform/schema/fields.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { listExplainedMetrics, listExplainedSubscriptions } from '../../usage/events/explain/terms-of-events.ts';
import { type Explanation, explain } from '../../usage/events/explain/verdict.ts';
import { parseProperties } from '../../usage/events/property-json.ts';
import { listEvents } from '../../usage/events/queries.ts';
import { eventText, type ShownEvent } from '../../usage/events/view.ts';
import {
  type BilledBucket,
  findWallet,
  listAlerts,
  listBilled,
  listCorrections,
  listInAdvanceFees,
  readStorage,
} from './queries.ts';
import type { EventTrace, EventTraceQuery } from './schema.ts';

type Trace = EventTrace['trace'];

/**
 * What an event did: how it counts, which invoice and fee its window has for it, what it was billed in advance, and
 * what followed. Nine statements, whatever the size.
 *
 * @throws Refusal 404 event
 * @throws Refusal 422 external_subscription_id: value_is_mandatory, where several subscriptions used the id
 * Rule: console-reads.md#event-trace.
 */
export async function showEventTrace(
  ctx: Context,
  { transaction_id, query }: { transaction_id: string; query: EventTraceQuery },
): Promise<Answer> {
  const event = await findOnly(ctx, transaction_id, query);
  const properties = parseProperties(event.properties);
  const explanation = await explainStored(ctx, event, properties);
  const target = propertyText(properties[TARGET_WALLET_KEY]);
  const customer = explanation.external_customer_id;
  const [storage, billed, inAdvance, corrections, wallet, alerts] = await Promise.all([
    readStorage(ctx, event.id),
    listBilledOf(ctx, event, explanation),
    listInAdvanceFees(ctx, event.external_subscription_id, event.transaction_id),
    listCorrections(ctx, event),
    customer === null ? undefined : findWallet(ctx, customer, target),
    listAlerts(ctx, event.external_subscription_id, event.created_at),
  ]);
  const rest: Omit<Trace, 'event' | 'verdict'> & { verdict: Explanation } = {
    received_at: `${event.created_at.slice(0, 19)}Z`,
    verdict: explanation,
    versions_count: storage.version,
    unmatched:
      storage.unmatched_status === null
        ? null
        : {
            reason: storage.unmatched_reason!,
            status: storage.unmatched_status,
            healed_at: secondsOrNull(storage.healed_at),
          },
    charges: chargesOf(explanation, billed),
    in_advance_fees: inAdvance.map((fee) => ({
      svc_id: fee.id,
      svc_charge_id: fee.charge_id,
      amount_cents: fee.amount_cents,
      currency: fee.amount_currency,
      svc_invoice_id: fee.invoice_id,
      payment_status: fee.payment_status,
    })),
    corrections: corrections.map(({ id, created_at, ...shown }) => ({
      svc_id: id,
      ...shown,
      created_at: seconds(created_at),
    })),
    wallet: wallet ? { svc_id: wallet.id, code: wallet.code, name: wallet.name, is_target: wallet.is_target } : null,
    alerts: alerts.map(({ id, triggered_at, ...shown }) => ({
      svc_id: id,
      ...shown,
      triggered_at: seconds(triggered_at),
    })),
  };
  // The event as the API shows it elsewhere: its numbers have digits that JSON.parse would lose.
  return new Answer(null, { json: `{"trace":{"event":${eventText(event)},${JSON.stringify(rest).slice(1)}}` });
}

async function findOnly(ctx: Context, transactionId: string, query: EventTraceQuery): Promise<ShownEvent> {
  const filters = { transaction_id: transactionId, ...query } as Parameters<typeof listEvents>[1];
  const found = await listEvents(ctx, filters, { page: 1, per_page: 2, after: null } as Parameters<
    typeof listEvents
  >[2]);
  if (found.length > 1) throw refuse.invalid({ external_subscription_id: [MANDATORY] });
  if (!found[0]) throw refuse.notFound('event');
  return found[0];
}

async function explainStored(
  ctx: Context,
  event: ShownEvent,
  properties: Readonly<Record<string, unknown>>,
): Promise<Explanation> {
  const externalIds = [event.external_subscription_id];
  // Matching compares timestamps in milliseconds.
  const timestamp = `${event.timestamp.slice(0, 23)}000Z`;
  const [subscriptions, [metric]] = await Promise.all([
    listExplainedSubscriptions(ctx, externalIds, { from: timestamp, to: timestamp }),
    listExplainedMetrics(ctx, [event.code], externalIds),
  ]);
  return explain({ ...event, timestamp, properties, isReplayed: false }, metric, subscriptions, ctx.now().toString());
}

const listBilledOf = async (
  ctx: Context,
  { timestamp }: ShownEvent,
  { svc_subscription_id: subscriptionId, charges }: Explanation,
): Promise<BilledBucket[]> =>
  subscriptionId === null || charges.length === 0
    ? []
    : listBilled(ctx, {
        subscriptionId,
        timestamp,
        buckets: charges.map((charge) => ({
          charge_id: charge.svc_charge_id,
          charge_filter_id: charge.svc_charge_filter_id,
          grouped_by: charge.grouped_by,
        })),
      });

function chargesOf({ charges, period }: Explanation, billed: readonly BilledBucket[]): Trace['charges'] {
  const billedOf = new Map(billed.map((row) => [row.charge_id, row]));
  return charges.map((charge) => {
    const row = billedOf.get(charge.svc_charge_id);
    return {
      svc_charge_id: charge.svc_charge_id,
      charge_code: charge.charge_code,
      group: charge.grouped_by,
      value: charge.value,
      window: period && { from: period.from, to: period.to },
      invoice: row ? { svc_id: row.invoice_id, number: row.number, status: row.status } : null,
      fee:
        row && row.fee_id !== null
          ? { svc_id: row.fee_id, amount_cents: row.amount_cents!, currency: row.amount_currency! }
          : null,
    };
  });
}
