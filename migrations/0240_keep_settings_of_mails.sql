-- Why: mails have templates, whose words, sender and sending a billing entity chooses, and the log says which customer
-- and record a mail is about (mails.md). Automatic mails are unique by template, record and occasion.
-- Locks: mails and payment_requests while columns without a default are added (no rewrite); the indexes of mails are
-- built in 0241 and 0242 without a lock.

alter table mails add column template text;
alter table mails add column locale text;
alter table mails add column occasion text not null default '';
alter table mails add column customer_id uuid constraint mails_customer_id_fkey references customers deferrable;
alter table mails add column billing_entity_id uuid
  constraint mails_billing_entity_id_fkey references billing_entities deferrable;
alter table mails add column resource_type text;
alter table mails add column resource_id uuid;
alter table mails add column from_address text;
comment on column mails.occasion is 'Why an automatic mail of this template about this record was sent: each once.';
comment on column mails.from_address is 'The seller''s own address; null: that of MAIL_FROM.';

alter table payment_requests add column dunning_attempt integer;
comment on column payment_requests.dunning_attempt is 'which attempt of its dunning campaign made it, from 1';

create table mail_settings (
  organization_id uuid not null constraint mail_settings_organization_id_fkey references organizations deferrable,
  billing_entity_id uuid not null constraint mail_settings_billing_entity_id_fkey
    references billing_entities deferrable,
  templates jsonb not null constraint mail_settings_templates check (jsonb_typeof(templates) = 'object'),
  updated_at timestamptz not null,
  constraint mail_settings_pkey primary key (organization_id, billing_entity_id)
);
comment on table mail_settings is 'Which mails an issuer sends to its customers.';
comment on column mail_settings.templates is 'only those that were set';
alter table mail_settings alter column organization_id set statistics 0;

create table mail_senders (
  organization_id uuid not null constraint mail_senders_organization_id_fkey references organizations deferrable,
  billing_entity_id uuid not null constraint mail_senders_billing_entity_id_fkey
    references billing_entities deferrable,
  from_name text,
  from_address text,
  reply_to text,
  bcc_issuer boolean not null default false,
  -- real times
  verified_at timestamptz,
  code_id uuid,
  code_expires_at timestamptz,
  code_tries integer not null default 0,
  codes_on date,
  codes_sent integer not null default 0,
  updated_at timestamptz not null,
  constraint mail_senders_pkey primary key (organization_id, billing_entity_id)
);
comment on table mail_senders is
  'From whom an issuer''s mails come. An address counts once a code that was sent there is told.';
comment on column mail_senders.code_id is 'from which the code is computed; the code is stored nowhere';
alter table mail_senders alter column organization_id set statistics 0;

create table mail_overrides (
  organization_id uuid not null constraint mail_overrides_organization_id_fkey references organizations deferrable,
  billing_entity_id uuid not null constraint mail_overrides_billing_entity_id_fkey
    references billing_entities deferrable,
  template text not null,
  locale text not null,
  subject text,
  intro text,
  closing text,
  updated_at timestamptz not null,
  constraint mail_overrides_pkey primary key (organization_id, billing_entity_id, template, locale)
);
comment on table mail_overrides is 'An issuer''s own words in a mail, in one language; null: the built-in ones.';
alter table mail_overrides alter column organization_id set statistics 0;

-- Whoever could read the log of mails still can.
update api_keys set permissions = permissions || jsonb_build_object('mail', permissions -> 'organization')
where permissions ? 'organization' and not permissions ? 'mail';
