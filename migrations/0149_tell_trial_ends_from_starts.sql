-- A subscription that takes over during a trial pays its fixed charges in advance with its start, and its first
-- subscription fee when the trial ends: two lines that start it, of which the unique index allowed one, so the fee was
-- never billed. The index now allows one line of each kind.
-- Adds a column with a default (no rewrite) and builds an index on lines that start subscriptions: locks
-- invoice_subscriptions against writes for about a second a million of them.
alter table invoice_subscriptions add column ends_trial boolean not null default false
  constraint invoice_subscriptions_trial_end_starts check (not ends_trial or invoicing_reason = 'subscription_starting');
drop index invoice_subscriptions_starting_key;
create unique index invoice_subscriptions_starting_key on invoice_subscriptions (organization_id, subscription_id, ends_trial)
  where invoicing_reason = 'subscription_starting' and not regenerated;
