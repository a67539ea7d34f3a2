-- Why: statistics of organization_id know the organizations of minutes ago. To a newer one the planner gives one row,
--   by any index that begins with organization_id, and so looks up one of its thousands of records by passing over all
--   of them. Without these statistics each organization is taken for a two-hundredth of its table, and an index that
--   fits all conditions of a statement is the cheapest one. Events keep theirs: lists are counted by their estimate.
-- Locks: no reads and no writes. Statistics that a database already has stay until its tables are analyzed anew by a
--   superuser's `delete from pg_statistic`; no database is that old.

do $$
declare
  stored regclass;
begin
  for stored in
    select attribute.attrelid
    from pg_attribute attribute
    join pg_class class on class.oid = attribute.attrelid
    where class.relnamespace = current_schema()::regnamespace and class.relkind = 'r' and not class.relispartition
      and attribute.attname = 'organization_id' and not attribute.attisdropped and class.relname <> 'events'
  loop
    execute format('alter table %s alter column organization_id set statistics 0', stored);
  end loop;
end $$;
