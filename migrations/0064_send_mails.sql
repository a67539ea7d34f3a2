-- Why: documents are mailed when they become final where their billing entity says so, and again on request, each with its
-- PDF (platform A.6, credits-and-payments C.2, E.9, subscriptions-and-invoices F.10). A row is what is owed: it waits for
-- its document, then for the mail server. Mails of sandboxes end in sandbox_mails.
-- Locks: a new table.
create table mails (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  -- of a mail with a document: what it tells of
  kind text check (kind in ('invoice', 'credit_note', 'payment_receipt')),
  subject_id uuid,
  document_id uuid,
  is_automatic boolean not null,
  recipients text[] not null,
  cc text[] not null,
  bcc text[] not null,
  sender_name text,
  reply_to text,
  subject text not null,
  body text not null,
  -- waiting: for its document; pending: for the mail server; unsent: there is none
  status text not null check (status in ('waiting', 'pending', 'sent', 'failed', 'unsent')),
  attempts integer not null default 0,
  error text,
  -- real time
  next_attempt_at timestamptz,
  sent_at timestamptz,
  -- business time
  created_at timestamptz not null
);
-- What becomes final is mailed once, however often that is tried.
create unique index mails_automatic_key on mails (organization_id, kind, subject_id) where is_automatic;
create index mails_waiting on mails (organization_id, document_id) where status = 'waiting';
create index mails_due on mails (next_attempt_at) where status = 'pending';
