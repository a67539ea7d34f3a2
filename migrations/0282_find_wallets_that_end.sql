-- no transaction
-- Why: wallets that are used up soon are counted and listed (wallets.md#burn-down).
-- Locks: none. A failed build is dropped before it is tried again.

drop index concurrently if exists wallets_exhausted_on;
create index concurrently wallets_exhausted_on on wallets (organization_id, exhausted_on)
  where status = 'active' and exhausted_on is not null;
