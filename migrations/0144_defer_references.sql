-- A preview writes what it imagines and rolls back. Each check of a foreign key locked the row referred to (`for key
-- share`), and every `for update` of that row waited until the preview ended. A preview now defers these checks to its
-- commit, which never comes; all other transactions check at once, as before.
-- Changes the catalog only. Locks each table against reads and writes until the end of this migration, below a second.
do $$
declare
  reference record;
begin
  for reference in
    select conrelid::regclass as name, conname
    from pg_constraint
    where contype = 'f' and not condeferrable and conparentid = 0
      and connamespace = (select oid from pg_namespace where nspname = current_schema())
    order by conrelid::regclass::text, conname
  loop
    execute format('alter table %s alter constraint %I deferrable initially immediate',
      reference.name, reference.conname);
  end loop;
end
$$;
