import type { Db, Fragment } from '../../platform/db/connect.ts';

// Two namespaces of advisory locks: organizations' events, and definitions of shapes of one metric.
const EVENTS_SEED = 5301;
const DEFINITION_SEED = 5302;

/** Call that takes the shared lock of an organization's events; `id` is its id as text. */
export const shareLock = (db: Db, id: Fragment) =>
  db`pg_advisory_xact_lock_shared(hashtextextended(${id}, ${EVENTS_SEED}))`;

/**
 * Takes the shared lock of organizations, in the order given (sort them). Whoever stores events holds it to the end of
 * the transaction. The versions are to be read in a LATER statement: this one's snapshot is older than a lock it has
 * waited for (performance-design 4.1).
 */
export const shareOrganizationEvents = (db: Db, organizationIds: readonly string[]) => db`
  select ${shareLock(db, db`id`)} from unnest(${`{${organizationIds.join(',')}}`}::text[]) id`;

/** Waits for the writers of an organization's events and keeps new ones out until the transaction ends. */
export const lockOrganizationEvents = (db: Db, organizationId: string) => db`
  select pg_advisory_xact_lock(hashtextextended(${organizationId}, ${EVENTS_SEED}))`;

/** One change at a time of what the shapes of these metrics are made of. */
export const lockShapeDefinitions = (db: Db, metricIds: readonly string[]) => db`
  select pg_advisory_xact_lock(hashtextextended(id, ${DEFINITION_SEED}))
  from unnest(${[...metricIds].sort()}::text[]) id`;
