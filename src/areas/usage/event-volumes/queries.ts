import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { VolumeStep } from './schema.ts';
import type { Span } from './span.ts';

/** Codes that stand apart; the others are summed. */
const CODES_SHOWN = 20;

export interface VolumeRow {
  at: Temporal.Instant;
  /** Null: all but the busiest codes. */
  code: string | null;
  stored: number;
  unmatched: number;
  replayed: number;
  rejected: number;
}

/**
 * Sums of each step and code in which something came, the busiest codes apart. Hours and days are read from hours, and
 * from minutes where those are not summed yet.
 */
export const listVolumes = (
  scope: Scope,
  step: VolumeStep,
  span: Pick<Span, 'from' | 'to'>,
  code: string | undefined,
) => scope.db<VolumeRow[]>`
  with counted as (
    select date_trunc(${step}, source.at, 'UTC') as at, source.code, sum(stored) as stored, sum(unmatched) as unmatched,
      sum(replayed) as replayed, sum(rejected) as rejected
    from (${step === 'minute' ? minutes(scope, span, code) : hours(scope, span, code)}) source
    group by 1, 2
  ), busiest as (
    select code from counted group by code order by sum(stored) desc, code limit ${CODES_SHOWN}
  )
  select at, busiest.code, sum(stored)::bigint as stored, sum(unmatched)::bigint as unmatched,
    sum(replayed)::bigint as replayed, sum(rejected)::bigint as rejected
  from counted left join busiest using (code)
  group by at, busiest.code
  order by at`;

/** The first hour of an organization in which something was counted; undefined if nothing was. */
export async function findFirstCountedHour({ db, organizationId }: Scope): Promise<Temporal.Instant | undefined> {
  const [row] = await db<{ hour: Temporal.Instant | null }[]>`
    select date_trunc('hour', least(
      (select min(hour) from event_volume_hours where organization_id = ${organizationId}),
      (select min(minute) from event_volumes where organization_id = ${organizationId})), 'UTC') as hour`;
  return row?.hour ?? undefined;
}

const ofCode = ({ db }: Scope, code: string | undefined) => (code === undefined ? db`` : db`and code = ${code}`);

const minutes = (scope: Scope, { from, to }: Pick<Span, 'from' | 'to'>, code: string | undefined) => scope.db`
  select minute as at, code, stored, unmatched, replayed, rejected from event_volumes
  where organization_id = ${scope.organizationId} and minute >= ${from} and minute < ${to} ${ofCode(scope, code)}`;

const hours = (scope: Scope, span: Pick<Span, 'from' | 'to'>, code: string | undefined) => {
  const { db, organizationId } = scope;
  const { from, to } = span;
  return db`
    select hour as at, code, stored, unmatched, replayed, rejected from event_volume_hours
    where organization_id = ${organizationId} and hour >= ${from} and hour < ${to} ${ofCode(scope, code)}
    union all
    ${minutes(scope, span, code)}
      and minute >= coalesce((
        select max(hour) + interval '1 hour' from event_volume_hours where organization_id = ${organizationId}
      ), '-infinity')`;
};
