import { narrowerThan, overlaps, type RankedFilter } from '../../../engine/metrics/choose-filter.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';

/**
 * Whether a raw event goes to one filter of a charge, or to its default bucket, as a condition in SQL: the same steps
 * as those of `filterChooser`. Every filter is matched at most once; filters that cannot match an event of the bucket
 * are skipped.
 *
 * properties  the event's, as jsonb
 * own         one of the filters; undefined is the default bucket
 *
 * Rule: groups-and-filters.md#matching-filters.
 */
export function isOfFilter<Filter>(
  db: Db,
  properties: Fragment,
  ranked: readonly RankedFilter<Filter>[],
  own: RankedFilter<Filter> | undefined,
): Fragment {
  const asked = ranked.filter((each) => own === undefined || each === own || overlaps(each, own));
  const [first, ...others] = asked;
  if (first === undefined) return db`true`;
  if (own === undefined)
    return others.reduce<Fragment>(
      (none, each) => db`${none} and not ${matches(db, properties, each)}`,
      db`not ${matches(db, properties, first)}`,
    );
  if (others.length === 0) return matches(db, properties, own);

  const places = asked.map((each, place) => db`case when ${matches(db, properties, each)} then ${place}::int end`);
  const matched = places.reduce((list, place) => db`${list}, ${place}`);
  const steps = asked.slice(0, asked.indexOf(own) + 1).map((each, place) => {
    const narrower = narrowerThan(asked, each).map((other) => asked.indexOf(other));
    const unless = narrower.length === 0 ? db`` : db`and not matched && ${narrower}::int[]`;
    return db`when ${place}::int = any (matched) ${unless} then ${each === own}::boolean`;
  });
  // The offset keeps the planner from matching again in every step.
  return db`(
    select case ${steps.reduce((list, step) => db`${list} ${step}`)} else false end
    from (select array_remove(array[${matched}]::int[], null) as matched offset 0) asked)`;
}

/** Whether every key's text is among a filter's values. */
const matches = <Filter>(db: Db, properties: Fragment, { values }: RankedFilter<Filter>): Fragment => {
  const all = [...values].reduce<Fragment>(
    (others, [key, texts]) => db`${others} and coalesce(${properties} ->> ${key} = any (${[...texts]}::text[]), false)`,
    db`true`,
  );
  return db`(${all})`;
};
