import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { isUuid } from '../../../platform/ids.ts';
import { eventsOfTransaction } from '../../usage/events/event-key.ts';
import { isLive } from '../../usage/events/live-events.ts';
import { type MATCHES, RESULTS_MAX, type SearchType } from './schema.ts';
import { SEARCHED, type Searched } from './searched.ts';

type Match = (typeof MATCHES)[number];

export interface FoundRow {
  type: SearchType;
  match: Match;
  id: string;
  title: string;
  subtitle: string;
  path: string;
  /** What its path ends with. */
  path_key: string;
  created_at: Temporal.Instant;
}

/** The columns of a result. */
export const shown = (db: Db, { type, title, subtitle, path }: Searched, match: Match): Fragment => db`
  ${type}::text as type, ${match}::text as match, r.id::text as id, ${title(db)}::text as title,
  ${subtitle(db)}::text as subtitle, ${path.prefix}::text as path, r.${db(path.key)}::text as path_key, r.created_at`;

/** As it was typed, in lower and in upper case. */
const writingsOf = (term: string): string[] => [...new Set([term, term.toLowerCase(), term.toUpperCase()])];

/** What a search looks for, and of which types. */
export interface Wanted {
  term: string;
  types: ReadonlySet<SearchType>;
  /** Since when the API log is shown. */
  logsSince: Temporal.Instant;
}

/**
 * Records with this id, or with this external id, code, number, transaction id or request id, and those whose external
 * id or number begins so. One statement, each arm of which reads at most twenty rows in the order of an index.
 */
export async function findKnown(scope: Scope, wanted: Wanted): Promise<readonly FoundRow[]> {
  const { db } = scope;
  const writings = writingsOf(wanted.term);
  const arms = SEARCHED.filter(({ type }) => wanted.types.has(type)).flatMap((searched) => [
    ...(isUuid(wanted.term) ? [arm(scope, searched, 'exact', db`r.id = ${wanted.term}`)] : []),
    ...(searched.known ? [arm(scope, searched, 'exact', db`r.${db(searched.known)} = any (${writings})`)] : []),
    ...(searched.byPrefix ? writings.map((writing) => prefixArm(scope, searched, writing)) : []),
  ]);
  if (wanted.types.has('event')) arms.push(...eventArms(scope, wanted.term, writings));
  if (wanted.types.has('api_log')) arms.push(logArm(scope, wanted.logsSince, writings));
  return arms.length === 0 ? [] : db<FoundRow[]>`${arms.reduce((all, each) => db`${all} union all ${each}`)}`;
}

const arm = ({ db, organizationId }: Scope, searched: Searched, match: Match, condition: Fragment): Fragment => db`
  (select ${shown(db, searched, match)} from ${db(searched.table)} r
  where r.organization_id = ${organizationId} and ${condition} and ${searched.live(db)}
  limit ${RESULTS_MAX})`;

/** Greater than every text that goes on after a prefix, in the order of bytes. */
const AFTER_ALL = '\u{10ffff}';

function prefixArm(scope: Scope, searched: Searched, writing: string): Fragment {
  const { db } = scope;
  const known = db`r.${db(searched.known!)}`;
  return arm(scope, searched, 'prefix', db`${known} ~>=~ ${writing} and ${known} ~<~ ${writing + AFTER_ALL}`);
}

function eventArms(scope: Scope, term: string, writings: readonly string[]): Fragment[] {
  const { db, organizationId } = scope;
  const events = [
    ...writings.map((writing) => db`(select e.* from ${eventsOfTransaction(scope, writing)} limit ${RESULTS_MAX})`),
    ...(isUuid(term) ? [db`(select * from events where organization_id = ${organizationId} and id = ${term})`] : []),
  ];
  return events.map(
    (found) => db`
    (select 'event' as type, 'exact' as match, r.id::text as id, r.transaction_id as title,
      concat_ws(' · ', r.code, r.external_subscription_id) as subtitle, '/events/' as path,
      r.transaction_id as path_key, r.created_at
    from ${found} r where ${isLive(db, db`r`)} limit ${RESULTS_MAX})`,
  );
}

const logArm = ({ db, organizationId }: Scope, since: Temporal.Instant, writings: readonly string[]): Fragment => db`
  (select 'api_log' as type, 'exact' as match, r.id::text as id,
    concat_ws(' ', upper(r.http_method), r.request_path) as title,
    concat_ws(' · ', r.http_status::text, r.request_id) as subtitle, '/api_logs/' as path,
    r.request_id as path_key, r.logged_at as created_at
  from api_logs r
  where r.organization_id = ${organizationId} and r.request_id = any (${writings}) and r.created_at >= ${since}
  limit ${RESULTS_MAX})`;
