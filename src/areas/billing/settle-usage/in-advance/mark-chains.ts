import { canonicalJson } from '../../../../platform/canonical-json.ts';
import type { Context } from '../../../../platform/context.ts';
import type { EventId, ExternalSubscriptionId } from '../../../../platform/ids.ts';
import { MOST_PERIODS } from '../../../usage/event-corrections/periods.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import { bucketOf } from '../../../usage/in-advance/price-event.ts';
import type { PricedCharge } from '../../../usage/usage/priced-charges.ts';
import { chargeAsBilled } from '../billed-items.ts';
import { readIssued, readTerms, type Terms } from './chain-terms.ts';
import { listFeesOfEvents } from './fees-of-events.ts';
import { insertRenewals } from './opened-periods.ts';
import {
  type Chain,
  insertChains,
  type LinkRow,
  listLaterRecords,
  listLinksOfEvents,
  listUnbilled,
  moveRecord,
} from './stored-chains.ts';

/**
 * Stores which chains of running records a correction has to reprice: those that its events were billed in and those
 * that they are in now; and the periods that were opened with their units as fees on no invoice. An event that another
 * charge takes now is billed as if it were new.
 *
 * eventIds events after their correction
 *
 * Rule: event-corrections.md#effect "in-advance event".
 */
export async function markChains(
  ctx: Context,
  correction: Pick<CorrectionRow, 'id' | 'external_subscription_id'>,
  eventIds: readonly EventId[],
): Promise<void> {
  const links = await listLinksOfEvents(ctx, eventIds);
  const later = await listLaterRecords(ctx, eventIds);
  if (links.length + later.length > 0) {
    const chargeIds = [...links, ...later].map(({ charge_id }) => charge_id);
    const terms = await readTerms(ctx, correction.external_subscription_id, chargeIds);
    const chains: Chain[] = [];
    for (const link of links) {
      const charge = terms.charges.get(link.charge_id)!;
      chains.push(...chainOf(terms, charge, link, link.event_timestamp));
      const moved = await placeNow(ctx, terms, {
        externalSubscriptionId: correction.external_subscription_id,
        charge,
        link,
      });
      if (moved !== undefined) chains.push(...chainOf(terms, charge, moved, link.timestamp));
    }
    chains.push(...laterChains(terms, later));
    await insertChains(ctx, correction.id, chains);
  }
  await insertRenewals(ctx, correction.id, eventIds);
  const unbilled = new Map<string, string[]>();
  for (const { subscription_id, event_id } of await listUnbilled(ctx, eventIds))
    unbilled.set(subscription_id, [...(unbilled.get(subscription_id) ?? []), event_id]);
  for (const [subscription_id, event_ids] of unbilled)
    ctx.after({ step: 'bill-in-advance', payload: { subscription_id, event_ids } });
}

/** For recurring metrics: the chains of this period and of the later ones that build on its events. */
function laterChains(terms: Terms, records: Awaited<ReturnType<typeof listLaterRecords>>): Chain[] {
  const windows = new Map<string, Set<string>>();
  return records.flatMap((record) => {
    const chains = chainOf(terms, terms.charges.get(record.charge_id)!, record, record.event_timestamp);
    return chains.filter(({ charge_id, charge_filter_id, grouped_by, window }) => {
      const key = canonicalJson([charge_id, charge_filter_id, grouped_by]);
      const own = windows.get(key) ?? new Set();
      windows.set(key, own.add(window.from.toString()));
      return own.size <= MOST_PERIODS;
    });
  });
}

type Place = Pick<LinkRow, 'record_id' | 'charge_filter_id' | 'grouped_by'>;

function chainOf(
  terms: Terms,
  charge: PricedCharge,
  { record_id: since_record_id, charge_filter_id, grouped_by }: Place,
  at: LinkRow['timestamp'],
): Chain[] {
  const line = terms.lineAt(charge, at);
  if (line === undefined) return [];
  const subscription_id = line.subscription.id;
  return [
    { subscription_id, charge_id: charge.id, charge_filter_id, grouped_by, window: line.usageWindow!, since_record_id },
  ];
}

/** Where a live event is counted now, if that differs from where it was billed. */
async function placeNow(
  ctx: Context,
  terms: Terms,
  {
    externalSubscriptionId,
    charge,
    link,
  }: { externalSubscriptionId: ExternalSubscriptionId; charge: PricedCharge; link: LinkRow },
): Promise<Place | undefined> {
  const { record_id, transaction_id } = link;
  if (!link.is_live || terms.lineAt(charge, link.timestamp) === undefined) return undefined;
  const fees = await listFeesOfEvents(ctx, externalSubscriptionId, {
    chargeId: charge.id,
    transactionIds: [transaction_id],
  });
  const issued = [...(await readIssued(ctx, [...fees.values()])).values()];
  const [bucket] = bucketOf(chargeAsBilled(charge, issued), link);
  if (bucket === undefined) return undefined;
  const place = { charge_filter_id: bucket.filter?.id ?? null, grouped_by: bucket.group };
  if (
    place.charge_filter_id === link.charge_filter_id &&
    canonicalJson(place.grouped_by) === canonicalJson(link.grouped_by as never) &&
    link.timestamp.equals(link.event_timestamp)
  )
    return undefined;
  await moveRecord(ctx, record_id, { ...place, timestamp: link.timestamp });
  return { record_id, ...place };
}
