-- Why: a run that rates calls of language models again (price-book.md#rating-again) takes them page by page. Which ones
--   it concerns is listed once, so that it can go on where it stopped.
-- Locks: a new table only.

create table price_rerating_events (
  organization_id uuid not null constraint price_rerating_events_organization_id_fkey references organizations
    deferrable,
  run_id uuid not null,
  external_subscription_id text not null,
  event_id uuid not null,
  constraint price_rerating_events_pkey
    primary key (organization_id, run_id, external_subscription_id, event_id)
);
comment on table price_rerating_events is 'Calls of language models that a run has still to rate again.';

-- No statement depends on which organization rows belong to (0057).
alter table price_rerating_events alter column organization_id set statistics 0;
