-- Why: an answer shows whether a connection to a payment provider moves real money.
-- Locks: payment_providers for an instant; only rows of sandbox connections, which move none, are rewritten.

alter table payment_providers add column live boolean;
comment on column payment_providers.live is
  'Whether it moves real money. Null: only the provider knows, until the next check of the connection.';
update payment_providers set live = false where provider_type = 'sandbox';
