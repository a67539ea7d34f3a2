-- Why: the storing of events needs the test clocks of its sandboxes, and that none is made meanwhile, in one statement
-- (performance-design 4.1 rule 5). A function, as hold_shapes_version is: what it queries is as new as the query, not as
-- old as the lock that it waited for. The seed is the one of src/platform/clock/organization-clock.ts.
-- Locks: none, a new function.
create function hold_clocks(organizations uuid[])
returns table (organization_id uuid, status text, frozen_time timestamptz) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(sorted.id::text, 5306))
  from (select id from unnest(organizations) as given (id) order by id) sorted;
  return query
    select clock.organization_id, clock.status, clock.frozen_time
    from test_clocks clock
    where clock.organization_id = any (organizations)
    order by clock.organization_id
    for share;
end
$$;
