-- Why: after a change of a budget the states of its windows follow, and after its deletion what they hold is released;
--   the sweep goes through them from the newest on (budgets.md#life-of-a-window).
--   Budgets with too many windows are found, since some of them end.
-- Locks: budgets, for a moment.

alter table budgets add column sweeps_from timestamptz, add column sweeps_from_id uuid,
  add constraint budgets_sweep check ((sweeps_from is null) = (sweeps_from_id is null));
comment on column budgets.sweeps_from is
  'the sweep looks at windows that start before it, with sweeps_from_id at the same instant; null: at none';
create index budgets_to_sweep on budgets (organization_id, id) where sweeps_from is not null;
create index budgets_full on budgets (organization_id, id) where is_full and deleted_at is null;
