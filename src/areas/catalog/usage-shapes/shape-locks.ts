import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { MetricId, OrganizationId } from '../../../platform/ids.ts';

// Two namespaces of advisory locks: organizations' events, which writers hold shared to the end of their transaction
// (by the function hold_shapes_version of migration 0006), and definitions of shapes of one metric.
const EVENTS_SEED = 5301;
const DEFINITION_SEED = 5302;

/** Waits for the writers of an organization's events and keeps new ones out until the transaction ends. */
export const lockOrganizationEvents = ({ db, organizationId }: Scope) => db`
  select pg_advisory_xact_lock(hashtextextended(${organizationId}, ${EVENTS_SEED}))`;

/**
 * Keeps changes of shapes and repairs of these organizations out until the transaction ends, as writers of events do.
 */
export const holdOrganizationEvents = (db: Db, organizationIds: readonly OrganizationId[]) => db`
  select pg_advisory_xact_lock_shared(hashtextextended(id, ${EVENTS_SEED}))
  from unnest(${[...organizationIds].sort()}::text[]) id`;

/** One change at a time of what the shapes of these metrics are made of. */
export const lockShapeDefinitions = (db: Db, metricIds: readonly MetricId[]) => db`
  select pg_advisory_xact_lock(hashtextextended(id, ${DEFINITION_SEED}))
  from unnest(${[...metricIds].sort()}::text[]) id`;
