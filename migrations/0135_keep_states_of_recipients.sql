-- Why: of two recipients where the mail server refuses one for good, the mail was "sent" and the refused one nowhere told;
-- and a permanent refusal was tried again for a day. Each address has a state of its own, and only those that are open
-- are tried again. `mails_newest` is for the list of mails.
-- Locks: mails for the time of adding a column with a constant default (no rewrite) and of building an index over it.
alter table mails add column recipient_states jsonb not null default '[]';
comment on column mails.recipient_states is
  'What the mail server said of each address: [{address, state: accepted | refused | deferred, error}]';
create index mails_newest on mails (organization_id, id desc);
