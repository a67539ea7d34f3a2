-- Why: the organization is the tenant; a key names it. Its logs and how long they are kept.
-- Locks: only new tables.

create table organizations (
  id uuid primary key,
  name text not null,
  slug text not null constraint organizations_slug_key unique,
  hmac_key text not null,
  former_hmac_key text,
  former_hmac_key_expires_at timestamptz,
  sandbox boolean not null default false,
  document_number_prefix text not null,
  document_numbering text not null default 'per_customer'
    check (document_numbering in ('per_customer', 'per_organization')),
  finalize_zero_amount_invoice boolean not null default true,
  country text, address_line1 text, address_line2 text, state text, zipcode text, city text, email text,
  legal_name text, legal_number text, tax_identification_number text,
  net_payment_term integer not null default 0,
  email_settings text[] not null default '{}',
  invoice_footer text,
  invoice_grace_period integer not null default 0,
  document_locale text not null default 'en',
  -- null = the setting AUDIT_LOGS_PERIOD_DAYS
  audit_logs_period_days integer,
  rate_limit_events integer check (rate_limit_events > 0),
  rate_limit_current_usage integer check (rate_limit_current_usage > 0),
  rate_limit_default integer check (rate_limit_default > 0),
  rate_limit_events_bulk integer check (rate_limit_events_bulk > 0),
  rate_limit_access integer check (rate_limit_access > 0),
  wallet_limit integer not null default 6 check (wallet_limit between 1 and 100),
  usage_policies jsonb,
  -- raised by every change of metrics, charges and filters that storing an event looks at (rollups.md#exactness)
  shapes_version bigint not null default 0,
  customers_count bigint not null default 0,
  hosted_page_wait_minutes integer not null default 0 check (hosted_page_wait_minutes >= 0),
  deny_when_overdue boolean not null default false,
  personal_properties jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint organizations_audit_logs_period_days check (audit_logs_period_days between 1 and 400)
);
comment on table organizations is
  'A tenant. Every other row of a tenant carries its id, which comes from the API key alone.';

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  name text,
  value_digest bytea not null constraint api_keys_value_digest_key unique,
  last_four text not null,
  permissions jsonb not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table api_keys is
  'Keys of an organization. Only a digest of the value is '
  'kept; permissions name the resources it may read and write.';
create index api_keys_organization on api_keys (organization_id, id);

create table retention_rules (
  organization_id uuid not null references organizations (id),
  class text not null,
  days integer check (days > 0),
  updated_at timestamptz not null,
  primary key (organization_id, class)
);
comment on table retention_rules is
  'Days that rows of a class are kept where an organization '
  'chose other than the default; null keeps them for ever.';
create index retention_rules_class on retention_rules (class, days);

create table activity_logs (
  id uuid not null,
  organization_id uuid not null,
  activity_type text not null,
  activity_source text not null check (activity_source in ('api', 'front', 'system')),
  activity_object jsonb,
  activity_object_changes jsonb not null default '{}',
  user_email text,
  api_key_id uuid,
  resource_id uuid not null,
  resource_type text not null,
  external_customer_id text,
  external_subscription_id text,
  logged_at timestamptz not null,
  -- real time; partitions follow it
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
comment on table activity_logs is
  'What changed, who changed it and through which key: one row '
  'per change of a resource. Partitioned by month of real time.';
create table activity_logs_default partition of activity_logs default;
create index activity_logs_newest on activity_logs (organization_id, logged_at desc, id desc);
create index activity_logs_customer on activity_logs (organization_id, external_customer_id);
create index activity_logs_subscription on activity_logs (organization_id, external_subscription_id);

create table api_logs (
  -- the command id, so that a redelivered job logs once; a fresh id for requests that the ingress refused
  id uuid not null,
  organization_id uuid not null,
  request_id text not null,
  api_key_id uuid not null,
  client text,
  http_method text not null,
  http_status integer not null,
  request_origin text not null,
  request_path text not null,
  request_body text,
  request_response text,
  api_version text not null default 'v1',
  logged_at timestamptz not null,
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
comment on table api_logs is
  'Writing requests with their answers, as the API log shows them. Partitioned by month of real time.';
create table api_logs_default partition of api_logs default;
create index api_logs_newest on api_logs (organization_id, logged_at desc, id desc);
create index api_logs_request on api_logs (organization_id, request_id);

create table security_logs (
  id uuid not null,
  organization_id uuid not null,
  log_type text not null,
  log_event text not null,
  user_id uuid,
  user_email text,
  api_key_id uuid,
  resources jsonb not null default '{}',
  device_info jsonb not null default '{}',
  logged_at timestamptz not null,
  -- real time; partitions follow it
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
comment on table security_logs is
  'Changes of keys, endpoints and other security settings. Partitioned by month of real time.';
create table security_logs_default partition of security_logs default;
create index security_logs_newest on security_logs (organization_id, logged_at desc, id desc);

-- The log partitions of this month and the next; a periodic job makes the later ones.
do $$
declare
  logs text;
  step integer;
  month timestamp;
begin
  foreach logs in array array['activity_logs', 'api_logs', 'security_logs'] loop
    for step in 0..1 loop
      month := date_trunc('month', now() at time zone 'UTC') + make_interval(months => step);
      execute format('create table %I partition of %I for values from (%L) to (%L)',
        logs || '_' || to_char(month, 'YYYY_MM'), logs, to_char(month, 'YYYY-MM-DD') || 'T00:00:00Z',
        to_char(month + interval '1 month', 'YYYY-MM-DD') || 'T00:00:00Z');
    end loop;
  end loop;
end
$$;
