import { instantOf } from '../../../../engine/explain/read-stored-inputs.ts';
import { textUnder } from '../../../../engine/metrics/choose-filter.ts';
import {
  type BilledLink,
  type ChainAggregation,
  type ChainLink,
  type ChainStep,
  walkChain,
} from '../../../../engine/metrics/event-chain.ts';
import type { Proration } from '../../../../engine/metrics/proration.ts';
import { NO_RECORD } from '../../../../engine/metrics/running-record.ts';
import { operationOf } from '../../../../engine/metrics/usage-event.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { ZERO } from '../../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../../engine/money/units.ts';
import { eventAmountExponent } from '../../../../engine/pricing/dynamic.ts';
import { inAdvanceFee } from '../../../../engine/pricing/in-advance-fee.ts';
import { eventsNeeded } from '../../../../engine/pricing/price.ts';
import type { Usage } from '../../../../engine/pricing/priced.ts';
import { canonicalJson } from '../../../../platform/canonical-json.ts';
import type { Context } from '../../../../platform/context.ts';
import type { ExternalSubscriptionId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { type Bucket, bucketOf, type EventPriced, shownGroup } from '../../../usage/in-advance/price-event.ts';
import type { PricedCharge } from '../../../usage/usage/priced-charges.ts';
import { prorationOf } from '../../build-invoice/lines.ts';
import { chargeAsBilled, isSetByHand } from '../billed-items.ts';
import type { IssuedFee } from '../issued-fees.ts';
import { isIn, readIssued, type Terms } from './chain-terms.ts';
import { listFeesOfEvents, listTakenOff } from './fees-of-events.ts';
import { type Chain, type LinkRow, listCarried, listLinks, updateRecords } from './stored-chains.ts';

/** The fee of an event in a chain, and its price now; undefined where the event no longer counts. */
export interface RepricedEvent {
  chain: Chain;
  event: LinkRow;
  issued: IssuedFee;
  /** Whether a correction deleted the fee, so that the event has none now. */
  isTakenOff: boolean;
  priced: EventPriced | undefined;
}

interface Link extends ChainLink {
  /** Undefined for an earlier period. */
  row: LinkRow | undefined;
  issued: IssuedFee | undefined;
}

/** How many events of earlier periods a recurring metric carries over at most. */
const MOST_CARRIED = 100_000;

/**
 * Reprices a chain: its running records are right afterwards, and the fees of its events are priced again by the terms
 * they were priced by. Fees set by hand and events without a fee are skipped.
 *
 * Rules: event-corrections.md#effect "in-advance event", event-corrections.md#difference "stored inputs".
 */
export async function repriceChain(
  ctx: Context,
  terms: Terms,
  externalSubscriptionId: ExternalSubscriptionId,
  chain: Chain,
): Promise<RepricedEvent[]> {
  const charge = terms.charges.get(chain.charge_id)!;
  const rows = await listLinks(ctx, externalSubscriptionId, chain);
  const ids = rows.filter(({ record_id }) => record_id >= chain.since_record_id).map((row) => row.transaction_id);
  const feeIds = await listFeesOfEvents(ctx, externalSubscriptionId, {
    chargeId: chain.charge_id,
    transactionIds: ids,
  });
  const without = ids.filter((id) => !feeIds.has(id));
  const takenOff = await listTakenOff(ctx, externalSubscriptionId, {
    chargeId: chain.charge_id,
    transactionIds: without,
  });
  const issuedFees = new Map([
    ...(await readIssued(ctx, [...feeIds.values()])),
    ...(await readIssued(ctx, [...takenOff.values()], 'deleted')),
  ]);
  const links = rows.map((row): Link => {
    const issued = issuedFees.get(feeIds.get(row.transaction_id) ?? takenOff.get(row.transaction_id) ?? '');
    return linkOf(terms, chain, { charge, row, issued });
  });
  const carried = charge.metric.recurring ? await carriedLinks(ctx, externalSubscriptionId, chain, charge) : [];
  const steps = walkChain([...carried, ...links], {
    aggregation: charge.metric.aggregation_type as ChainAggregation,
    weighing: ({ row, issued }) => row && weighingOf(terms, chain, { charge, row, issued }),
    since: chain.since_record_id,
  });
  await updateRecords(ctx, changedRecords(steps));
  return steps.flatMap(({ link: { row, issued }, billed }): RepricedEvent[] => {
    if (row === undefined || issued === undefined || isSetByHand(issued)) return [];
    const priced = billed && price(terms, chain, { charge: chargeAsBilled(charge, [issued]), row, billed });
    return [{ chain, event: row, issued, isTakenOff: takenOff.has(row.transaction_id), priced }];
  });
}

/** @throws Refusal 422 base: value_is_out_of_range, of more events than can be looked at */
async function carriedLinks(
  ctx: Context,
  externalSubscriptionId: ExternalSubscriptionId,
  chain: Chain,
  charge: PricedCharge,
): Promise<Link[]> {
  const { code } = charge.metric;
  const before = chain.window.from;
  const rows = await listCarried(ctx, externalSubscriptionId, { code, before, limit: MOST_CARRIED + 1 });
  if (rows.length > MOST_CARRIED) throw refuse.invalid({ base: ['value_is_out_of_range'] });
  return rows.flatMap(({ event_id, timestamp, texts }): Link[] => {
    const [bucket] = bucketOf(charge, { texts });
    if (bucket === undefined || !isOf(bucket, chain)) return [];
    const operation = operationOf(textUnder(texts, 'operation_type'));
    return [
      {
        eventId: event_id,
        recordId: '',
        isCarried: true,
        timestamp,
        record: NO_RECORD,
        counted: { value: bucket.value ?? '', operation, amount: ZERO },
        row: undefined,
        issued: undefined,
      },
    ];
  });
}

const isOf = (bucket: Bucket, { charge_filter_id, grouped_by }: Chain): boolean =>
  (bucket.filter?.id ?? null) === charge_filter_id && canonicalJson(bucket.group) === canonicalJson(grouped_by);

function linkOf(
  terms: Terms,
  chain: Chain,
  { charge, row, issued }: { charge: PricedCharge; row: LinkRow; issued: IssuedFee | undefined },
): Link {
  const [bucket] = bucketOf(chargeAsBilled(charge, issued ? [issued] : []), row);
  const isHere =
    row.is_live &&
    row.code === charge.metric.code &&
    isIn(chain.window, row.timestamp) &&
    bucket !== undefined &&
    isOf(bucket, chain);
  const exponent = eventAmountExponent(propertiesOf(charge, chain), denominationOf(terms, chain, charge));
  return {
    row,
    issued,
    eventId: row.event_id,
    recordId: row.record_id,
    timestamp: row.timestamp,
    record: { current: row.current, max: row.max, maxProrated: row.max_prorated },
    counted: !isHere
      ? null
      : {
          value: bucket.value ?? '',
          operation: operationOf(textUnder(row.texts, 'operation_type')),
          amount: toMainUnit(row.precise_total_amount_cents ?? ZERO, exponent),
        },
  };
}

/** Those of the chain's filter, else of its charge. */
const propertiesOf = (charge: PricedCharge, { charge_filter_id: id }: Chain) =>
  (charge.filters.find((filter) => filter.id === id) ?? charge).properties;

const denominationOf = (terms: Terms, { subscription_id }: Chain, charge: PricedCharge) => ({
  exponent: exponentOf(terms.currencyOf(subscription_id)),
  conversionRate: charge.conversion_rate,
});

/** Weighted by the days of its fee, unless the event is in another period now. */
function weighingOf(
  terms: Terms,
  chain: Chain,
  { charge, row, issued }: { charge: PricedCharge; row: LinkRow; issued: IssuedFee | undefined },
): Proration | undefined {
  if (!charge.prorated) return undefined;
  const line = terms.lineOf(chain.subscription_id, row.timestamp);
  const stored = issued?.inputs?.window;
  const fee = stored && { from: instantOf(stored.fee.from), to: instantOf(stored.fee.to) };
  if (fee === undefined || !isIn(fee, row.timestamp)) return prorationOf(line, chain.window);
  return {
    period: fee,
    periodDays: stored!.charges_duration_days ?? line.windows.chargesDurationDays,
    zone: stored!.timezone ?? line.zone,
    isUpgraded: (stored!.succession ?? line.succession) === 'upgrade',
  };
}

function price(
  terms: Terms,
  chain: Chain,
  { charge, row, billed }: { charge: PricedCharge; row: LinkRow; billed: BilledLink },
): EventPriced {
  const { change, event, units, eventsCount, amount, billedBefore } = billed;
  const denomination = denominationOf(terms, chain, charge);
  const filter = charge.filters.find(({ id }) => id === chain.charge_filter_id);
  const properties = propertiesOf(charge, chain);
  const aggregation = charge.metric.aggregation_type;
  const needsValues = eventsNeeded(charge.charge_model, properties, aggregation) !== 'none';
  const usage: Usage = {
    aggregation,
    units,
    eventsCount,
    ...(needsValues ? { values: billed.values() } : {}),
    ...(charge.charge_model === 'dynamic' ? { preciseTotalAmount: amount } : {}),
  };
  const ownAmount = toMainUnit(row.precise_total_amount_cents ?? ZERO, eventAmountExponent(properties, denomination));
  const fee = inAdvanceFee({
    charge_model: charge.charge_model,
    properties,
    usage,
    event: { ...event, preciseTotalAmount: ownAmount, billedBefore },
    ...denomination,
  });
  const group = chain.grouped_by;
  const groupedBy = shownGroup({ charge, group });
  return { charge, filter, groupedBy, group, change, event, usage, ownAmount, billedBefore, fee };
}

const changedRecords = (steps: readonly ChainStep<Link>[]) =>
  steps.flatMap(({ link, record: { current, max, maxProrated } }) =>
    current.eq(link.record.current) && max.eq(link.record.max) && maxProrated.eq(link.record.maxProrated)
      ? []
      : [{ id: link.recordId, current, max, max_prorated: maxProrated }],
  );
