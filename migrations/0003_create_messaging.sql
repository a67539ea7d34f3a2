-- Why: outgoing events with their feed, endpoints and deliveries; mails and documents.
-- Locks: only new tables.

create table webhook_endpoints (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  webhook_url text not null,
  name text,
  signature_algo text not null default 'jwt' check (signature_algo in ('jwt', 'hmac')),
  event_types text[],
  secret text not null,
  former_secret text,
  former_secret_expires_at timestamptz,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_at timestamptz,
  disabled_reason text,
  failures_since timestamptz,
  consecutive_failures integer not null default 0,
  circuit_open_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint webhook_endpoints_url_key unique (organization_id, webhook_url)
);
comment on table webhook_endpoints is
  'Addresses that receive an organization''s webhooks, with '
  'their secret, their circuit breaker and the types they want.';

create table webhook_events (
  id uuid primary key,
  organization_id uuid not null,
  position bigserial not null,
  sequence bigint,
  webhook_type text not null,
  object_type text not null,
  object_id uuid,
  customer_id uuid,
  occurred_at timestamptz not null,
  -- text, not jsonb: the signed bytes keep the key order of webhooks.md#request
  payload text not null,
  created_at timestamptz not null,
  constraint webhook_events_sequence_key unique (organization_id, sequence)
);
comment on table webhook_events is
  'Every outgoing event once, whether or not an endpoint '
  'listens. The sequencer numbers rows after their commit.';
create index webhook_events_unnumbered on webhook_events (organization_id, position) where sequence is null;

create table feed_heads (
  organization_id uuid primary key,
  first bigint not null default 1,
  last bigint not null default 0
);
comment on table feed_heads is 'First and last sequence number of an organization''s event feed.';

create table webhook_deliveries (
  id uuid primary key,
  organization_id uuid not null,
  webhook_endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
  event_id uuid not null references webhook_events (id) on delete cascade,
  endpoint text not null,
  status text not null default 'pending' check (status in ('pending', 'retrying', 'succeeded', 'failed')),
  retries integer not null default 0,
  attempts_left integer,
  http_status integer,
  response text,
  next_attempt_at timestamptz,
  last_retried_at timestamptz,
  replay_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table webhook_deliveries is
  'One event on its way to one endpoint: attempts made, last answer, next attempt.';
-- led by the endpoint, so that removing one finds its deliveries
create index webhook_deliveries_endpoint
  on webhook_deliveries (webhook_endpoint_id, organization_id, updated_at desc);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_replay on webhook_deliveries (replay_id) where replay_id is not null;
create index webhook_deliveries_waiting on webhook_deliveries (webhook_endpoint_id, next_attempt_at, id)
  where status in ('pending', 'retrying');

create table documents (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  kind text not null,
  subject_id uuid not null,
  file_name text not null,
  content_type text not null default 'application/pdf',
  content bytea,
  missing_characters text not null default '',
  requested_at timestamptz not null,
  enqueued_at timestamptz not null,
  rendered_at timestamptz,
  constraint documents_subject_key unique (organization_id, kind, subject_id),
  constraint documents_kind_check
    check (kind in ('invoice', 'credit_note', 'payment_receipt', 'order_form', 'invoice_xml', 'credit_note_xml'))
);
comment on table documents is
  'Rendered documents (PDF and XML), one per kind and subject, '
  'kept as they were first handed out. No content yet: being made.';
create index documents_pending on documents (enqueued_at) where content is null;

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
  recipient_states jsonb not null default '[]',
  -- business time
  created_at timestamptz not null
);
comment on table mails is
  'Mails to customers with a state for each recipient. A row waits for its document, then for the mail server.';
comment on column mails.recipient_states is
  'What the mail server said of each address: [{address, state: accepted | refused | deferred, error}]';
-- What becomes final is mailed once, however often that is tried.
create unique index mails_automatic_key on mails (organization_id, kind, subject_id) where is_automatic;
create index mails_waiting on mails (organization_id, document_id) where status = 'waiting';
create index mails_due on mails (next_attempt_at) where status = 'pending';
create index mails_newest on mails (organization_id, id desc);

create table sandbox_mails (
  id uuid primary key,
  organization_id uuid not null,
  recipients text[] not null,
  bcc text[] not null default '{}',
  subject text not null,
  body text not null,
  attachments jsonb not null default '[]',
  created_at timestamptz not null
);
comment on table sandbox_mails is 'Mails of sandbox organizations: they are kept here instead of being sent.';
create index sandbox_mails_newest on sandbox_mails (organization_id, created_at desc, id desc);
