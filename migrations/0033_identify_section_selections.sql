-- Why: the API shows a selection of a custom section with an id of its own; and no owner needs a row to say that it wants
-- no section, since customers, subscriptions and wallets say so in a column.
-- Locks: two tables that nothing reads yet.
alter table invoice_custom_section_selections add column id uuid not null;
drop table invoice_custom_section_skips;
