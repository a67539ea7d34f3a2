import { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CorrectionId, EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { listCatalogs } from '../../catalog/usage-shapes/queries.ts';
import { type Catalog, catalogOf } from '../../catalog/usage-shapes/storing-catalog.ts';
import { type AddedEntry, addEntries } from '../budget-windows/add-entries.ts';
import { type Count, countUsage } from '../budget-windows/count-usage.ts';
import { budgetSweep } from '../budget-windows/nudge-sweep.ts';
import { NO_SUBSCRIBERS, needSubscribers, readSubscribers } from '../budget-windows/subscribers.ts';
import { parseProperties } from '../events/property-json.ts';
import { type EventAmendment, type EventPayload, type EventToCorrect, eventsOfIds } from './lock-events.ts';
import { type Provisional, provisionalOf, takenBack } from './provisional-entries.ts';

/** An event before its correction, and the hold that counted it. */
interface CountedEvent extends EventToCorrect {
  external_subscription_id: ExternalSubscriptionId;
  held_at: Temporal.Instant | null;
  provisional: Provisional[] | null;
}

/** What budgets counted of some events: read before they change, written afterwards. */
export interface CountedBefore {
  catalog: Catalog;
  events: CountedEvent[];
}

/**
 * Events that a correction is about to change, as budgets counted them; undefined for an organization without budgets.
 * The organization's shapes are held.
 */
export async function readCounted(ctx: Context, ids: readonly EventId[]): Promise<CountedBefore | undefined> {
  const [row] = await listCatalogs(ctx.db, [ctx.organizationId]);
  const catalog = catalogOf(row!);
  if (catalog.budgets.length === 0) return undefined;
  return { catalog, events: await listCounted(ctx, ids) };
}

/**
 * Appends to budgets the difference that a correction makes, in the windows where its events counted: those of the time
 * of the hold that they settled, else of their own timestamps. Amounts before and after are measured by the terms of
 * now. A budget that is younger than an event never counted it. What stayed counted of a hold without a price is taken
 * back where the price is known now.
 *
 * amendments  of the events; null: they are retracted
 *
 * Rule: budgets.md#holds "correction, retraction".
 */
export async function correctBudgets(
  ctx: Context,
  { catalog, events }: CountedBefore,
  { amendments, correctionId }: { amendments: readonly EventAmendment[] | null; correctionId: CorrectionId },
): Promise<void> {
  const ids = [...new Set(events.map(({ external_subscription_id: id }) => id))];
  const subscribers = needSubscribers(catalog.budgets)
    ? await readSubscribers(ctx, ids, catalog.budgets)
    : NO_SUBSCRIBERS;
  const payloads = new Map(amendments?.map((amendment) => [amendment.id, amendment]));
  const found = new Map<string, AddedEntry>();
  const replaced: AddedEntry[] = [];
  for (const event of events) {
    // Ids hold the time at which they were made, by the real clock.
    const budgets = catalog.budgets.filter(({ id }) => id < event.id);
    const count = ({ timestamp, properties, precise_total_amount_cents }: EventPayload) =>
      countUsage(
        budgets,
        { ...event, properties: parseProperties(properties), precise_total_amount_cents },
        { at: event.held_at ?? Temporal.Instant.from(timestamp), subscribers },
      );
    const payload = payloads.get(event.id);
    const after = payload ? count(payload) : [];
    addDifference(found, { before: count(event), after, correctionId });
    if (event.provisional)
      replaced.push(...takenBack(event.provisional, { after, isRetracted: amendments === null, catalog }));
  }
  const entries = [...replaced, ...[...found.values()].filter(({ amount }) => !amount.isZero())];
  if (entries.length === 0) return;
  await addEntries(ctx, entries);
  ctx.after({ nudge: 'periodic.work', payload: budgetSweep(ctx.now()) });
}

function addDifference(
  found: Map<string, AddedEntry>,
  { before, after, correctionId }: { before: readonly Count[]; after: readonly Count[]; correctionId: CorrectionId },
): void {
  const touched = new Set<string>();
  const add = ({ window }: Count, amount: Decimal, makesWindow: boolean): void => {
    const known = found.get(window.id);
    found.set(window.id, {
      window,
      amount: known?.amount.plus(amount) ?? amount,
      events: (known?.events ?? 0) + (touched.has(window.id) ? 0 : 1),
      makesWindow: makesWindow || known?.makesWindow === true,
      source: 'correction',
      ref: correctionId,
    });
    touched.add(window.id);
  };
  for (const each of before) add(each, each.amount.negated(), false);
  for (const each of after) add(each, each.amount, true);
}

const listCounted = (scope: Scope, ids: readonly EventId[]) => {
  const { db } = scope;
  return db<CountedEvent[]>`
    select event.*, hold.created_at as held_at, hold.provisional
    from (
      select e.id, e.organization_id, e.external_subscription_id, e.transaction_id, ${callOf(db)} as call_id, e.code,
        ${isoText(db, db`e.timestamp`)} as timestamp, e.properties::text as properties,
        trim_scale(e.precise_total_amount_cents)::text as precise_total_amount_cents
      from ${eventsOfIds(scope, ids)}
    ) event
    left join lateral (
      select hold.created_at, ${provisionalOf(db)} as provisional
      from budget_holds hold
      where hold.organization_id = event.organization_id and hold.counts_event
        and hold.external_subscription_id = event.external_subscription_id
        and hold.event_transaction_id in (event.transaction_id, event.call_id)
      limit 1
    ) hold on true`;
};

/** The transaction id of a call whose part the event `e` is: its own ends with the kind. */
const callOf = (db: Db): Fragment => db`
  case when right(e.transaction_id, length(e.properties ->> 'kind') + 1) = '#' || (e.properties ->> 'kind')
    then left(e.transaction_id, -length(e.properties ->> 'kind') - 1) end`;
