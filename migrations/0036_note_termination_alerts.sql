-- Why: the day on which somebody was told that a subscription will end (platform L `termination-alerts`), and what the
-- job of failed invoices selects.
-- Locks: the column has no default, so it is added in an instant; the indexes hold few rows and are built under a share
-- lock, for seconds at most.
alter table subscriptions add column termination_alerted_on date;
create index subscriptions_ending on subscriptions (ending_at) where status = 'active' and ending_at is not null;
create index invoices_failed on invoices (organization_id, id) where status = 'failed';
