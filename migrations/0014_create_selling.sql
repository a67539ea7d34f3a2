-- Why: quotes, the order forms that approved versions become, and the orders that signed forms become.
-- Locks: only new tables.

create table owners (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  email text not null,
  created_at timestamptz not null,
  constraint owners_email_key unique (organization_id, email)
);
comment on table owners is 'People who look after quotes, known by their mail address.';

create table order_sequences (
  organization_id uuid not null references organizations (id),
  document text not null check (document in ('quote', 'order_form', 'order')),
  last bigint not null,
  primary key (organization_id, document)
);
comment on table order_sequences is 'Last number given to a quote, order form or order.';

create table quotes (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  subscription_id uuid references subscriptions (id),
  number text not null,
  order_type text not null check (order_type in ('subscription_creation', 'subscription_amendment', 'one_off')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint quotes_number_key unique (organization_id, number),
  constraint quotes_target check ((order_type = 'subscription_amendment') = (subscription_id is not null))
);
comment on table quotes is 'Quotes, whose content stands in their versions.';
create index quotes_newest on quotes (organization_id, created_at desc, id desc);
create index quotes_customer on quotes (organization_id, customer_id);

create table quote_owners (
  organization_id uuid not null,
  quote_id uuid not null references quotes (id),
  owner_id uuid not null references owners (id),
  position integer not null,
  primary key (organization_id, quote_id, owner_id)
);
comment on table quote_owners is 'Owners of a quote, in order.';
create index quote_owners_owner on quote_owners (organization_id, owner_id);

create table quote_versions (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  quote_id uuid not null references quotes (id),
  version integer not null check (version > 0),
  status text not null default 'draft' check (status in ('draft', 'approved', 'voided')),
  void_reason text check (void_reason in ('manual', 'superseded', 'cascade_of_expired', 'cascade_of_voided')),
  currency text, billing_entity_code text, content text,
  billing_items jsonb,
  -- What the document prints, as it was at the approval.
  display_variables jsonb,
  approved_at timestamptz,
  voided_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint quote_versions_version_key unique (organization_id, quote_id, version),
  constraint quote_versions_voided
    check ((status = 'voided') = (voided_at is not null) and (status = 'voided') = (void_reason is not null))
);
comment on table quote_versions is 'Versions of a quote; an approved one becomes an order form.';
create unique index quote_versions_alive_key on quote_versions (organization_id, quote_id)
  where status in ('draft', 'approved');

create table order_forms (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  quote_id uuid not null references quotes (id),
  quote_version_id uuid not null references quote_versions (id),
  number text not null,
  status text not null default 'generated' check (status in ('generated', 'signed', 'expired', 'voided')),
  void_reason text check (void_reason in ('manual', 'expired', 'invalid')),
  expires_at timestamptz, signed_at timestamptz, voided_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint order_forms_number_key unique (organization_id, number),
  constraint order_forms_version_key unique (organization_id, quote_version_id)
);
comment on table order_forms is 'Approved versions of quotes, to be signed.';
create index order_forms_newest on order_forms (organization_id, created_at desc, id desc);
create index order_forms_quote on order_forms (organization_id, quote_id);
create index order_forms_expiring on order_forms (expires_at) where status = 'generated' and expires_at is not null;

create table orders (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  customer_id uuid not null references customers (id),
  order_form_id uuid not null references order_forms (id),
  number text not null,
  status text not null default 'created' check (status in ('created', 'executed', 'failed')),
  order_type text not null check (order_type in ('subscription_creation', 'subscription_amendment', 'one_off')),
  execution_mode text check (execution_mode in ('execute_in_svc', 'order_only')),
  execute_at timestamptz,
  currency text,
  billing_snapshot jsonb,
  executed_at timestamptz,
  -- What the last attempt made, or why it made nothing.
  execution_record jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint orders_number_key unique (organization_id, number),
  constraint orders_form_key unique (organization_id, order_form_id),
  constraint orders_executed check ((status = 'executed') = (executed_at is not null)),
  constraint orders_scheduled check (execute_at is null or execution_mode is not null)
);
comment on table orders is 'Signed order forms and their execution.';
create index orders_newest on orders (organization_id, created_at desc, id desc);
create index orders_scheduled on orders (execute_at) where status = 'created' and execute_at is not null;

-- Changes of a quote, its versions, forms and orders go one at a time; whoever waits too long is told so. A function,
-- since a statement that fails would end the transaction.
create function lock_quote(quote uuid) returns boolean language plpgsql volatile set lock_timeout = '8s' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('quote-' || quote, 0));
  return true;
exception when lock_not_available then
  return false;
end
$$;
