import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { raiseShapesVersion } from '../usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../usage-shapes/shape-locks.ts';

/** Namespace of advisory locks: one change of a layer of prices at a time. */
const BOOK_SEED = 5308;
/** Stands for the layer of the deployment where an organization's id would be. */
const DEPLOYMENT = 'deployment';

/** A layer of prices: an organization's, or the deployment's where there is none. */
export interface LayerScope {
  db: Db;
  organizationId: OrganizationId | null;
}

/** One change at a time of an organization's prices, or of the deployment's where there is none. */
export const lockBook = ({ db, organizationId }: LayerScope) => db`
  select pg_advisory_xact_lock(hashtextextended(${organizationId ?? DEPLOYMENT}, ${BOOK_SEED}))`;

/**
 * The next version of an organization's book. To be called when all rows are computed: from here to the commit no event
 * of the organization is stored, so that one which is acknowledged later is rated with what is written now.
 *
 * Rule: price-book.md#versions.
 */
export async function raiseBookVersion(scope: Scope): Promise<number> {
  await lockOrganizationEvents(scope);
  await raiseShapesVersion(scope);
  const [row] = await scope.db<{ book_version: number }[]>`
    update organizations set book_version = book_version + 1 where id = ${scope.organizationId} returning book_version`;
  return row!.book_version;
}

/** The next version of the deployment's layer. Events under way may still have the prices before it. */
export async function raiseDeploymentVersion(db: Db): Promise<number> {
  const [row] = await db<{ version: number }[]>`
    update price_layers set version = version + 1 where name = ${DEPLOYMENT} returning version`;
  return row!.version;
}
