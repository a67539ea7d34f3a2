-- Why: an access point also says by itself what became of a document that it took. It repeats what was not answered in
--   time, so a sending keeps the ids of the latest reports, and a repeated one changes and counts nothing.
-- Locks: e_document_transmissions for an instant; the default is not written to its rows.

alter table e_document_transmissions add column heard text[] not null default '{}';
comment on column e_document_transmissions.heard is
  'The ids of the latest reports that the access point made by itself, newest last.';
