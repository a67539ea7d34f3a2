-- Why: sweeps took the oldest rows of all organizations, and rows that made no progress kept their place, so those of
--   one organization kept those of all others from their turn. Each run stamps what it looked at and takes next what
--   was looked at longest ago. Pages that were closed are ended at their provider even if their job is lost.
--   Methods that are read after one was stored leave the default alone.
-- Locks: each table for an instant; payments, customers and payment_pages for as long as their small indexes are built.

alter table payments add column looked_at timestamptz;
comment on column payments.looked_at is 'When a sweep last sent it to its provider again, or asked about it.';
create index payments_to_look_at on payments (organization_id, looked_at nulls first)
  where payment_type = 'provider' and payment_status in ('pending', 'processing');
create index payments_cancel_to_look_at on payments (organization_id, looked_at nulls first)
  where cancel_owed_at is not null;
drop index payments_stuck;
drop index payments_cancel_owed;

alter table credit_note_refunds add column looked_at timestamptz;
comment on column credit_note_refunds.looked_at is
  'When a sweep last sent it to its provider again, or asked about it.';

alter table customers add column looked_at timestamptz;
comment on column customers.looked_at is 'When a sweep last owed a call about the customer to its provider again.';
alter table customers add column methods_keep_default boolean not null default false;
comment on column customers.methods_keep_default is
  'Whether the methods that are to be read leave the default one, because the customer has just stored it.';
create index customers_to_be_made on customers (organization_id, looked_at nulls first)
  where payment_provider_id is not null and provider_customer_id is null and deleted_at is null;
create index customers_methods_to_look_at on customers (organization_id, looked_at nulls first)
  where methods_owed_at is not null;
drop index customers_methods_owed;

alter table payment_pages add column looked_at timestamptz;
comment on column payment_pages.looked_at is 'When a sweep last had it opened or ended at its provider again.';
alter table payment_pages add column ended_at timestamptz;
comment on column payment_pages.ended_at is 'When a page that was closed here was ended at its provider.';
create index payment_pages_to_look_at on payment_pages (organization_id, looked_at nulls first)
  where error is null
    and (url = '' and closed_at is null or closed_at is not null and ended_at is null and provider_page_id is not null);

alter table payment_providers add column looked_at timestamptz;
comment on column payment_providers.looked_at is 'When a sweep last had it checked, or its secrets removed.';

-- How often a release was tried is counted by the sweep, which stamps `updated_at`.
comment on column authorizations.attempts is 'How often the sweep had it released.';
