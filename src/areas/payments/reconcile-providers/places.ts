import type { Scope } from '../../../platform/db/scope.ts';
import type { PaymentProviderId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import { PHASES, type Phase, type Place } from './pages.ts';

/** Where a run goes on, and what is left to it. */
export interface Cursor extends Place {
  /** The connections up to this id have had their turn. */
  reached: PaymentProviderId;
  /** Places at which a provider gave no answer: the run comes back to them after all other connections. */
  waiting: readonly Place[];
}

/** A cursor as it is stored: of a run that began before an upgrade it may have its place only. */
export type StoredCursor = Place & Partial<Cursor>;

export const cursorOf = (stored: StoredCursor): Cursor => ({ reached: stored.connection_id, waiting: [], ...stored });

/** After the last place. */
const isDone = ({ connection_id }: Place): boolean => connection_id === '';

interface OfRun {
  /** Null: a run over all connections. */
  payment_provider_id: PaymentProviderId | null;
  cursor: StoredCursor | null;
}

/** Where a run is; undefined when everything is compared. */
export async function currentPlace(scope: Scope, run: OfRun): Promise<Cursor | undefined> {
  const cursor = run.cursor ? cursorOf(run.cursor) : await unreachedPlace(scope, run, null);
  return cursor && !isDone(cursor) ? cursor : undefined;
}

/** The place of the next phase of a connection; undefined after the last one. */
export function nextPhase({ connection_id, phase }: Place): Place | undefined {
  const next = PHASES[PHASES.indexOf(phase) + 1] as Phase | undefined;
  return next && { connection_id, phase: next, at: null };
}

/** Where a run goes on that has left a connection: at another one, then where no answer came, then nowhere. */
export async function placeElsewhere(scope: Scope, run: OfRun, { reached, waiting }: Cursor): Promise<Cursor> {
  const unreached = await unreachedPlace(scope, run, reached);
  if (unreached) return { ...unreached, waiting };
  const [first, ...rest] = waiting;
  return { ...(first ?? NOWHERE), reached, waiting: rest };
}

const NOWHERE: Place = { connection_id: '', phase: PHASES[0], at: null };

/** The first place of the connection after one, in the order of their ids. */
async function unreachedPlace(
  { db, organizationId }: Scope,
  run: OfRun,
  after: PaymentProviderId | null,
): Promise<Cursor | undefined> {
  const [row] = await db<{ id: PaymentProviderId }[]>`
    select id from payment_providers
    where organization_id = ${organizationId} and deleted_at is null and provider_type = any (${NETWORK_TYPES})
      ${run.payment_provider_id === null ? db`` : db`and id = ${run.payment_provider_id}`}
      ${after === null ? db`` : db`and id > ${after}`}
    order by id limit 1`;
  return row && { connection_id: row.id, phase: PHASES[0], at: null, reached: row.id, waiting: [] };
}

/**
 * Where a run goes on after a provider gave no answer. While there are connections that it has not come to, they are
 * next; else the provider that has waited for longest is asked again, after a pause.
 */
export async function placeAfterOutage(
  scope: Scope,
  run: OfRun,
  { connection_id, phase, at, reached, waiting }: Cursor,
): Promise<{ cursor: Cursor; isElsewhere: boolean }> {
  const all = [...waiting, { connection_id, phase, at }];
  const unreached = await unreachedPlace(scope, run, reached);
  const isElsewhere = unreached !== undefined;
  const cursor = unreached
    ? { ...unreached, waiting: all }
    : await placeElsewhere(scope, run, { connection_id, phase, at, reached, waiting: all });
  return { cursor, isElsewhere };
}
