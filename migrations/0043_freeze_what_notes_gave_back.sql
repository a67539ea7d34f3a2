-- Why: the document that cancels a voided invoice is drawn after the void, so that a note made in between changed its
-- amounts, and a note made later credited the receiver a second time. What notes had given back is kept with it.
-- Locks: the table for an instant; no row is read or written.

alter table e_documents add column noted jsonb;
comment on column e_documents.noted is
  'Of a cancellation: what notes had given back of the invoice when it was voided, and which notes these were.';
