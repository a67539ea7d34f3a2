-- Why: a customer who is linked to one at a provider has methods there that we do not know yet; reading them is owed as
--   a column, so that a lost job is found.
-- Locks: customers for an instant; the index is built on no row.

alter table customers add column methods_owed_at timestamptz;
comment on column customers.methods_owed_at is
  'Since when the payment methods that the customer has at its provider have to be read. Null: they are known.';
create index customers_methods_owed on customers (methods_owed_at) where methods_owed_at is not null;
