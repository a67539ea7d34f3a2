-- Why: the security log, retention chosen per organization, settings that had no column, and log partitions that exist
-- before their month begins: rows of the present month leave the default partitions.
-- Locks: the two log tables, exclusively, while rows of the present month are moved.
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
create table security_logs_default partition of security_logs default;
create index security_logs_newest on security_logs (organization_id, logged_at desc, id desc);

-- Days that rows of a class are kept, where an organization chose other than the default (beyond 16.2); null = for ever.
create table retention_rules (
  organization_id uuid not null references organizations (id),
  class text not null,
  days integer check (days > 0),
  updated_at timestamptz not null,
  primary key (organization_id, class)
);
create index retention_rules_class on retention_rules (class, days);

alter table organizations
  add column if not exists wallet_limit integer not null default 6 check (wallet_limit between 1 and 100),
  add column if not exists hosted_page_wait_minutes integer not null default 0 check (hosted_page_wait_minutes >= 0),
  add column if not exists deny_when_overdue boolean not null default false,
  add column if not exists personal_properties jsonb not null default '[]',
  -- null = the setting AUDIT_LOGS_PERIOD_DAYS
  alter column audit_logs_period_days drop not null,
  alter column audit_logs_period_days drop default,
  add constraint organizations_audit_logs_period_days check (audit_logs_period_days between 1 and 400);
update organizations set audit_logs_period_days = null where audit_logs_period_days = 30;

do $$
declare
  logs text;
  step integer;
  month timestamp;
  part text;
  range_from text;
  range_to text;
begin
  foreach logs in array array['activity_logs', 'api_logs', 'security_logs'] loop
    for step in 0..1 loop
      month := date_trunc('month', now() at time zone 'UTC') + make_interval(months => step);
      part := logs || '_' || to_char(month, 'YYYY_MM');
      range_from := to_char(month, 'YYYY-MM-DD') || 'T00:00:00Z';
      range_to := to_char(month + interval '1 month', 'YYYY-MM-DD') || 'T00:00:00Z';
      if to_regclass(part) is null then
        execute format('create table %I (like %I including defaults including constraints)', part, logs);
        execute format(
          'with moved as (delete from %I where created_at >= %L and created_at < %L returning *) insert into %I select * from moved',
          logs || '_default', range_from, range_to, part);
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', logs, part, range_from, range_to);
      end if;
    end loop;
  end loop;
end
$$;
