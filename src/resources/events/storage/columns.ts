import type { LiveShape } from '../../usage-shapes/catalog.ts';
import { groupJson } from '../../usage-shapes/shape.ts';
import { bytesArray, plainArray, textArray } from './array-literal.ts';
import type { PreparedEvent } from './prepare.ts';

/** A prepared event and the request it came with. */
export interface EventRow {
  prepared: PreparedEvent;
  organization_id: string;
  user_agent: string | null;
  remote_address: string | null;
}

/** A group that no transaction of this process has committed yet. */
export interface NewGroup {
  shape: LiveShape;
  key: string;
  hash: string;
}

/** The parameters of the storing statement: array literals, one element a row, references between them by position from 1. */
export interface Columns {
  organizations: { ids: string; versions: string };
  shapes: { ids: string; isMax: string; isMoment: string };
  groups: { shapes: string; hashes: string; properties: string };
  events: {
    organizations: string;
    ids: string;
    subscriptions: string;
    transactions: string;
    codes: string;
    timestamps: string;
    created: string;
    properties: string;
    amounts: string;
    digests: string;
    agents: string;
    addresses: string;
    shapes: string;
    hashes: string;
    values: string;
    buildings: string;
  };
}

/**
 * Order of the rows of every storing statement, so that concurrent ones never wait for each other in a circle; of equal
 * keys the first one sent comes first and wins.
 */
export function byKey(a: EventRow, b: EventRow): number {
  const [left, right] = [a.prepared.event, b.prepared.event];
  return (
    order(a.organization_id, b.organization_id) ||
    order(left.external_subscription_id, right.external_subscription_id) ||
    order(left.transaction_id, right.transaction_id) ||
    order(left.id, right.id)
  );
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Numbers things in order of appearance, from 1 as Postgres counts. */
class Numbering<Thing> {
  readonly things: Thing[] = [];
  readonly #numbers = new Map<Thing, number>();

  of(thing: Thing): number {
    let number = this.#numbers.get(thing);
    if (number === undefined) {
      number = this.things.push(thing);
      this.#numbers.set(thing, number);
    }
    return number;
  }
}

/** Columns of sorted rows. `versions`: of the catalog that each organization's rows were prepared with. */
export function columnsOf(
  rows: readonly EventRow[],
  versions: ReadonlyMap<string, number>,
  newGroups: readonly NewGroup[],
): Columns {
  const organizations = new Numbering<string>();
  const shapes = new Numbering<LiveShape>();
  const prepared = rows.map((row) => row.prepared);
  const events = prepared.map((each) => each.event);
  const rollups = prepared.map((each) => each.rollup);
  return {
    events: {
      organizations: plainArray(rows.map((row) => organizations.of(row.organization_id))),
      ids: plainArray(events.map((event) => event.id)),
      subscriptions: textArray(events.map((event) => event.external_subscription_id)),
      transactions: textArray(events.map((event) => event.transaction_id)),
      codes: textArray(events.map((event) => event.code)),
      timestamps: plainArray(prepared.map((each) => each.timestamp)),
      created: plainArray(prepared.map((each) => each.created_at)),
      properties: textArray(prepared.map((each) => each.properties)),
      amounts: plainArray(events.map((event) => event.precise_total_amount_cents)),
      digests: bytesArray(events.map((event) => event.digest)),
      agents: textArray(rows.map((row) => row.user_agent)),
      addresses: textArray(rows.map((row) => row.remote_address)),
      shapes: plainArray(rollups.map((rollup) => (rollup ? shapes.of(rollup.shape) : null))),
      hashes: bytesArray(rollups.map((rollup) => rollup?.hash ?? '')),
      values: plainArray(rollups.map((rollup) => rollup?.value ?? null)),
      buildings: plainArray(prepared.map((each) => each.buildingId)),
    },
    groups: {
      shapes: plainArray(newGroups.map((group) => shapes.of(group.shape))),
      hashes: bytesArray(newGroups.map((group) => group.hash)),
      properties: textArray(newGroups.map((group) => groupJson(group.shape.property_names, JSON.parse(group.key)))),
    },
    organizations: {
      ids: plainArray(organizations.things),
      versions: plainArray(organizations.things.map((id) => versions.get(id) ?? -1)),
    },
    shapes: {
      ids: plainArray(shapes.things.map((shape) => shape.id)),
      isMax: plainArray(shapes.things.map((shape) => shape.aggregation_type === 'max_agg')),
      isMoment: plainArray(shapes.things.map((shape) => shape.aggregation_type === 'weighted_sum_agg')),
    },
  };
}

/** Groups of the rows that are not known to be stored, each once, in a fixed order. */
export function newGroupsOf(rows: readonly EventRow[]): NewGroup[] {
  const found = new Map<string, NewGroup>();
  for (const { prepared } of rows) {
    if (!prepared.rollup || prepared.rollup.isStored) continue;
    const { shape, hash, key } = prepared.rollup;
    found.set(`${shape.id}${hash}`, { shape, key, hash });
  }
  return [...found].sort(([a], [b]) => order(a, b)).map(([, group]) => group);
}
