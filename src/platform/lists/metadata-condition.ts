import type { Db, Fragment } from '../db/connect.ts';
import { json } from '../db/values.ts';

/**
 * Condition of a list on metadata, a single one for any number of keys: with a subselect for each key Postgres plans
 * all joins between them, and 100 keys took more than 10 s before a row was read.
 *
 * owner     column of the listed record that the items refer to
 * items     `from` and `where` of the organization's items, with the alias `item`
 * reference column of an item that names its record
 * wanted    value by key; blank asks for records without the key
 */
export function metadataCondition(
  db: Db,
  { owner, items, reference }: { owner: Fragment; items: Fragment; reference: Fragment },
  wanted: Record<string, string> | undefined,
): Fragment {
  const keys = Object.keys(wanted ?? {});
  if (keys.length === 0) return db``;
  const values = Object.fromEntries(Object.entries(wanted!).filter(([, value]) => value !== ''));
  const present = Object.keys(values).length;
  const named = db`select ${reference} ${items} and item.key = any (${keys})`;
  if (present === 0) return db`and ${owner} not in (${named})`;
  // A record has each key once, so matching items are counted: all wanted ones, and none that must be absent.
  return db`and ${owner} in (${named} group by ${reference}
    having count(*) filter (where item.value = ${json(values)}::jsonb ->> item.key) = ${present} and count(*) = ${present})`;
}
