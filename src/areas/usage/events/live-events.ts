import type { Db, Fragment } from '../../../platform/db/connect.ts';

// An index over live events serves only statements that say "live" in its own words. Postgres takes an organization
// that its statistics do not know for one row, where every index that begins with the organization costs the same:
// whole months were read through the wrong one. In these words no statement has two indexes to choose from
// (storing-events.md#table). `deleted_at is null` means the events of a subscription. Of "<>" Postgres expects that it
// holds for nearly all rows, as it does.

/** An event `e` that is found by its id or transaction id, and live. */
export const isLive = (db: Db, event: Fragment): Fragment =>
  db`coalesce(${event}.deleted_at, 'infinity') >= 'infinity'`;

/** A live event `e` in the order of its organization's timestamps: index `events_newest`. */
export const isLiveInOrder = (db: Db): Fragment => db`num_nulls(e.deleted_at) <> 0`;

/** A live event `e` in the order of the timestamps of its code: index `events_newest_of_code`. */
export const isLiveOfCode = (db: Db): Fragment => db`num_nonnulls(e.deleted_at) <> 1`;

/** An event `e`, live or not, in the order in which its organization's events came: index `events_in_arrival`. */
export const isInArrival = (db: Db): Fragment => db`num_nulls(e.id) <> 1`;
