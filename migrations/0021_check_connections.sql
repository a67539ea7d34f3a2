-- Why: a connection is checked once a day, fails after calls that its provider refuses for their key, and owes the
--   registration of its address for events as a row, so that a lost job is found.
-- Locks: payment_providers for an instant; the defaults are constants, so nothing is rewritten.

alter table payment_providers add column checked_at timestamptz;
comment on column payment_providers.checked_at is 'When the provider last answered a check of the credentials.';
alter table payment_providers add column refused_calls integer not null default 0;
comment on column payment_providers.refused_calls is
  'Calls in a row that the provider answered with 401 or 403; after three the connection is failing.';
alter table payment_providers add column inbound_owed_at timestamptz;
comment on column payment_providers.inbound_owed_at is
  'Since when our address for events has to be registered at the provider. Null: it is, or it cannot be.';
