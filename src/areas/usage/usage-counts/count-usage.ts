import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { Texts } from '../../../engine/metrics/choose-filter.ts';
import { presentUnits } from '../../../engine/metrics/presentation.ts';
import { splitUsage } from '../../../engine/metrics/split-usage.ts';
import { holdsTaken } from '../../../engine/metrics/usage-bucket.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';
import { addBilledGroups } from './billed-totals.ts';
import type { Counting, Row } from './counted-charge.ts';
import { readRows } from './read-rows.ts';
import type { ChargeToCount, CountedCharge, CountedShare, CountRequest, WantedTexts } from './request.ts';
import { figuresOf, type Portion, type ReadEvent, type ShareRead } from './units-of-shares.ts';

/**
 * Counts the usage of charges: units before rounding and number of events, per filter and group, in the requested
 * order. A charge without events has one empty share per filter and for the default bucket.
 *
 * Full hours come from rollups, the at most two partial hours at the edges of a window from raw events; everything from
 * raw events if no rollup can answer. Single events are read only where each is priced: values of percentage charges,
 * of those with free events only the first; moves of prorated graduated ones; and days of prorated charges in zones
 * whose days begin within an hour. At most two round trips, with at most five statements, whatever the number of
 * charges and groups.
 *
 * Rules: aggregation.md#selecting-events, aggregation.md#metered, aggregation.md#recurring,
 * aggregation.md#unique-count, groups-and-filters.md#matching-filters, groups-and-filters.md#groups,
 * aggregation.md#weighted-sum, aggregation.md#prorated-sum, aggregation.md#prorated-unique-count, rollups.md#buckets,
 * rollups.md#exactness.
 */
export async function countUsage(db: Db, request: CountRequest): Promise<CountedCharge[]> {
  const { organizationId, mode, pause } = request;
  const countings = await readRows({ db, organizationId }, request.charges, { mode, pause });
  return mapInSlices(
    countings,
    async (counting) => ({ key: counting.charge.key, shares: await sharesOf(counting, pause) }),
    pause,
  );
}

/** Splits the rows of a charge into its shares and computes each. */
export async function sharesOf(
  { charge, rows, totals }: Pick<Counting, 'charge' | 'rows' | 'totals'>,
  pause: Pause | undefined,
): Promise<CountedShare[]> {
  const { metric, only } = charge;
  const taken = rows.filter(({ portion }) => portion === undefined || isTaken(metric.aggregation_type, portion));
  // A billed total contains everything before.
  const own = totals.size === 0 ? taken : taken.filter(({ isBefore }) => isBefore !== true);
  const shares = splitUsage({
    filters: charge.filters,
    declaredValues: Object.fromEntries(metric.filters.map(({ key, values }) => [key, values])),
    groupKeysOf: (filter) => filter?.groupKeys ?? charge.groupKeys,
    rows: only ? own.filter(({ texts }) => hasTexts(texts, only)) : own,
    textsOf: ({ texts }) => texts,
  });
  const all = addBilledGroups(charge, shares, totals);
  return mapInSlices(
    all,
    ({ filter, groupedBy, rows: of, billedTotal }) => ({
      filterId: filter?.id ?? null,
      groupedBy,
      ...figuresOf(charge, { ...readOf(of), billedTotal }),
      ...presented(charge, of),
    }),
    pause,
  );
}

/** Whether a portion has an event that counts; the number of a latest value may be in another row. */
const isTaken = (type: AggregationType, portion: Portion): boolean =>
  holdsTaken(type, portion) || portion.last_ts !== null;

function readOf(rows: readonly Row[]): Omit<ShareRead, 'billedTotal'> {
  const portionsOf = (before: boolean) =>
    rows.flatMap(({ portion, isBefore }) => (portion && isBefore === before ? [portion] : []));
  return {
    portions: portionsOf(false),
    before: portionsOf(true),
    events: inOrder(rows.flatMap(({ event }) => (event ? [event] : []))),
    settled: rows.reduce((total, { settled = 0 }) => total + settled, 0),
  };
}

/** Events of unique counts come from several statements; all others from one, in order. */
function inOrder(events: ReadEvent[]): ReadEvent[] {
  const keyOf = ({ key }: ReadEvent) => key ?? '';
  return events.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

/** Units of a share by the presentation keys. Rule: groups-and-filters.md#presentation. */
function presented(charge: ChargeToCount, rows: readonly Row[]): Pick<CountedShare, 'presented'> {
  const { presentationKeys = [], metric } = charge;
  if (presentationKeys.length === 0) return {};
  const shown = metric.aggregation_type === 'latest_agg' ? newestRow(rows) : rows;
  const unitsOf = (own: readonly Row[]) => {
    const { units, fullUnits } = figuresOf(charge, { ...readOf(own), billedTotal: undefined });
    return fullUnits ?? units;
  };
  return { presented: presentUnits(presentationKeys, shown, ({ texts }) => texts, unitsOf) };
}

/** The row with the last value. */
function newestRow(rows: readonly Row[]): Row[] {
  const keyOf = ({ portion }: Row) =>
    portion?.last_ts ? `${portion.last_ts.toString({ fractionalSecondDigits: 6 })} ${portion.last_id}` : '';
  const last = rows.reduce<Row | undefined>(
    (newest, row) => (newest && keyOf(newest) >= keyOf(row) ? newest : row),
    undefined,
  );
  return last && keyOf(last) !== '' ? [last] : [];
}

const hasTexts = (texts: Texts, wanted: WantedTexts): boolean =>
  Object.entries(wanted).every(([name, any]) => any.some((text) => texts[name] === text));
