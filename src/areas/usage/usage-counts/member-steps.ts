import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import {
  answeringShapes,
  type MemberRow,
  memberEntry,
  type RollupRequest,
  valuesElsewhere,
  waitingEvents,
  waitingMembers,
} from './rollup-queries.ts';
import type { SharedRequest } from './share-requests.ts';
import type { Steps } from './step-readings.ts';

/** What a group's values changed within a step. */
export interface MemberStepRow extends MemberRow {
  step: number;
  /** Whether more values had to be listed than may be: none is. */
  is_cut: boolean;
}

/**
 * Members of unique counts as `listMembers` reads them, at several ends in one pass: a value that nothing else has is
 * counted in the step that adds it and taken off in the one that removes it; any other is listed with its last hour of
 * each step.
 */
export const listMembersInSteps = (
  { db, organizationId }: Scope,
  requests: readonly SharedRequest<RollupRequest>[],
  { ends, mostEvents }: Steps,
) => {
  const stepOf = (at: Fragment) => db`width_bucket(${at}, ${ends.map(String)}::timestamptz[])`;
  return db<MemberStepRow[]>`
  with ${answeringShapes({ db, organizationId }, requests)},
  ${waitingEvents({ db, organizationId }, 'unique_count_agg')},
  ${valuesElsewhere({ db, organizationId })}
  select scan.ns, grp.properties as texts, listed.settled, listed.members, coalesce(listed.step, 0) as step,
    coalesce(listed.is_cut, false) as is_cut
  from scan
  left join lateral (
    select group_hash, step, coalesce(sum(change) filter (where not is_listed), 0)::int as settled,
      coalesce(jsonb_agg(${memberEntry(db)}) filter (where is_listed and listed <= ${mostEvents}), '[]') as members,
      bool_or(listed > ${mostEvents}) as is_cut
    from (
      select each.*, count(*) filter (where is_listed) over () as listed
      from (
        select turn.group_hash, turn.value_hash, has_add, is_member, last_ts, last_created_at, last_id, hour, step,
          change,
          scan.edges is null or elsewhere.value_hash is not null
            or count(*) filter (where nth = 1) over (partition by turn.value_hash) > 1 as is_listed
        from (
          select last.*, row_number() over turns as nth,
            is_member::int - coalesce(lag(is_member::int) over turns, 0) as change
          from (
            select distinct on (value_hash, group_hash, step) u.*, ${stepOf(db`u.hour`)} as step
            from usage_uniques u
            where scan.days is null and u.organization_id = ${organizationId}
              and u.external_subscription_id = scan.subscription and u.shape_id = scan.shape_id
              and u.hour >= scan."from" and u.hour < scan."to"
            order by value_hash, group_hash, step, hour desc
          ) last
          window turns as (partition by value_hash, group_hash order by step)
        ) turn
        left join also_elsewhere elsewhere on elsewhere.s = scan.s and elsewhere.value_hash = turn.value_hash
        union all
        select group_hash, value_hash, has_add, is_member, last_ts, last_created_at, last_id, hour,
          ${stepOf(db`u.hour`)}, 0, true
        from usage_uniques u
        where scan.days is not null and u.organization_id = ${organizationId}
          and u.external_subscription_id = scan.subscription and u.shape_id = scan.shape_id
          and u.hour >= scan."from" and u.hour < scan."to"
      ) each
    ) as row
    group by group_hash, step
  ) listed on true
  left join usage_groups grp on grp.organization_id = ${organizationId} and grp.shape_id = scan.shape_id
    and grp.group_hash = listed.group_hash
  union all
  select waiting.*, ${stepOf(db`(members -> 0 ->> 5)::timestamptz`)}, false from (${waitingMembers(db)}) waiting`;
};
