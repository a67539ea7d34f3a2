-- Why: what a tax engine had filed is taken back by a negation, and stays frozen there under its id. An invoice that is
--   recorded again afterwards needs an id of its own, so it has to be known that the former one was negated.
-- Locks: tax_documents for the time of a new column without a value.

alter table tax_documents add column negated_at timestamp with time zone;
