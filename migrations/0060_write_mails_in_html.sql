-- Why: mails that ask for payment have a part in HTML, and the PDFs of several invoices, for which they wait.
-- Locks: mails and sandbox_mails for an instant each, and mails while the index of the waiting ones is built.

alter table mails add column html text, add column attached_ids uuid[] not null default '{}';
comment on column mails.html is 'The same words as in body, as a page; null: the mail is text alone.';
comment on column mails.attached_ids is
  'Documents that are attached besides document_id, in this order: all of them, or none when they are too large.';
create index mails_waiting_attached on mails using gin (attached_ids) where status = 'waiting';
alter table sandbox_mails add column html text;
