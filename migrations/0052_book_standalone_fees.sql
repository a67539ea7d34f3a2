-- Why: money that is told to have come in for a standalone fee is booked on the fee, whose entries are then looked up.
-- Locks: one new partial index of the journal, whose writers wait while it is built; no row has a fee yet.
create index ledger_entries_fee on ledger_entries (organization_id, fee_id) where fee_id is not null;
