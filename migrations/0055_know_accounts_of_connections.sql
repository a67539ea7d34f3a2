-- Why: two connections to one account of a tax engine share its documents, which are known there by our ids alone: what
--   one of them takes back, the other has just recorded. An account has one live connection, and a former one is known
--   to reach the same.
-- Locks: integrations for the time of a new column without a value, and of an index over no row.

alter table integrations add column account_fingerprint text;

create unique index integrations_account_key on integrations (organization_id, account_fingerprint)
  where deleted_at is null and account_fingerprint is not null;
