-- no transaction
-- Why: a search finds records by the beginning of their number or external id, and customers by a part of their names.
--   The texts of a customer are an expression of the index, not a column: a stored column would be written into every
--   row under a lock that keeps everybody away.
-- Locks: none; about 5 s a million customers. A failed build is dropped before it is tried again.

select set_config('search_path', quote_ident(current_schema()) || ', ' || quote_ident(nspname), false)
  from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
  where extname = 'pg_trgm' and nspname <> current_schema();
drop index concurrently if exists customers_search;
create index concurrently customers_search on customers using gin (organization_id, (
  lower(coalesce(name, '') || chr(10) || coalesce(firstname, '') || chr(10) || coalesce(lastname, '') || chr(10)
    || coalesce(legal_name, '') || chr(10) || external_id || chr(10) || coalesce(email, ''))) gin_trgm_ops)
  where deleted_at is null;
reset search_path;
drop index concurrently if exists customers_prefix;
create index concurrently customers_prefix on customers (organization_id, external_id text_pattern_ops)
  where deleted_at is null;
drop index concurrently if exists subscriptions_prefix;
create index concurrently subscriptions_prefix on subscriptions (organization_id, external_id text_pattern_ops);
drop index concurrently if exists invoices_prefix;
create index concurrently invoices_prefix on invoices (organization_id, number text_pattern_ops);
drop index concurrently if exists credit_notes_prefix;
create index concurrently credit_notes_prefix on credit_notes (organization_id, number text_pattern_ops);
drop index concurrently if exists payment_receipts_prefix;
create index concurrently payment_receipts_prefix on payment_receipts (organization_id, number text_pattern_ops);
drop index concurrently if exists quotes_prefix;
create index concurrently quotes_prefix on quotes (organization_id, number text_pattern_ops);
drop index concurrently if exists order_forms_prefix;
create index concurrently order_forms_prefix on order_forms (organization_id, number text_pattern_ops);
drop index concurrently if exists orders_prefix;
create index concurrently orders_prefix on orders (organization_id, number text_pattern_ops);
