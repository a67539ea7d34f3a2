-- Why: 0057 keeps no statistics of organization_id any more, but those that a database had stayed, for good: an
--   organization made after them was taken for one row by every index that begins with the column. A change of the
--   column's type, to the same type, drops them. An ordinary role may do that.
-- Locks: each table that has such statistics, for reads and writes, until the last is done. Tables and most indexes are
--   kept; an index of some rows only is built anew, 1 s a million rows of its table. A new database has none.

do $$
declare
  stored regclass;
begin
  for stored in
    select attribute.attrelid
    from pg_attribute attribute
    join pg_class class on class.oid = attribute.attrelid
    join pg_stats kept on kept.schemaname = current_schema() and kept.tablename = class.relname
      and kept.attname = attribute.attname
    where class.relnamespace = current_schema()::regnamespace and class.relkind = 'r' and not class.relispartition
      and attribute.attname = 'organization_id' and attribute.attstattarget = 0
    order by class.relname
  loop
    execute format('alter table %s alter column organization_id type uuid', stored);
  end loop;
end $$;
