-- Why: a provider may refuse to open a hosted page; whoever asked for it is told.
-- Locks: one column without a default, no rewrite.
alter table payment_pages add column error jsonb;
