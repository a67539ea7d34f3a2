-- Why: the worker that advances a clock says every few seconds that it lives. On the clock's own row that waited for every
-- job that held the clock (3.6 s on average at a month end, 16 s at worst) and held up those that came after it. The time of
-- the lease has a row of its own, which nobody but that worker writes while an advance goes on. The token stays with the
-- clock as well: whoever moves the clock must still be its worker once the clock's row is got.
-- Locks: test_clocks for an instant; its rows are few. A worker of the former version stops at its next step, and the
-- advance goes on in one of this version.
create table test_clock_leases (
  organization_id uuid primary key references test_clocks (organization_id) on delete cascade,
  -- lease_token of the clock when the lease was taken
  token uuid,
  -- real time until which the worker is believed alive
  until timestamptz not null
);
insert into test_clock_leases (organization_id, token, until)
select organization_id, lease_token, lease_until from test_clocks where lease_until is not null;
create index test_clock_leases_until on test_clock_leases (until);
alter table test_clocks drop column lease_until;
