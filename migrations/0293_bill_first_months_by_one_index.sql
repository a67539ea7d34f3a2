-- no transaction
-- Why: the first months' ends of an installation are billed with plans that were made while there was hardly a fee, and
--   each of their indexes that begins with the organization looked equally good. The youngest one is taken then, which
--   read all fees of the organization for each invoice; now that is the index of the invoice. It ended when Postgres
--   analyzed the table, which 0047 had put off to 10 000 changes, though it wanted large tables analyzed sooner.
-- Locks: none; about 2 s a million fees. A failed build is dropped before it is tried again.

drop index concurrently if exists fees_of_invoice;
create index concurrently fees_of_invoice on fees (organization_id, invoice_id);
drop index concurrently if exists fees_invoice;
alter table fees reset (autovacuum_analyze_threshold);
alter table events reset (autovacuum_analyze_threshold);
alter table usage_buckets reset (autovacuum_analyze_threshold);
alter table usage_uniques reset (autovacuum_analyze_threshold);
