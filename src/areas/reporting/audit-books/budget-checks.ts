import type { Context } from '../../../platform/context.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Invariants of budgets. Rule: auditor.md. */
export const BUDGET_CHECKS: readonly Check[] = [
  {
    code: 'A34',
    mustHold:
      'a window has spent what was folded of its entries, holds what its open parts hold, and no hold passed its limit',
    resourceType: 'BudgetWindow',
    find: async (ctx) => [...(await findDrifts(ctx)), ...(await findOverspent(ctx))].slice(0, MOST_FINDINGS),
  },
];

const findDrifts = ({ db, organizationId }: Context) => db<Finding[]>`
  select w.id as resource_id, jsonb_build_array(ledger.spent, ledger.held)::text as expected,
    jsonb_build_array(w.spent, w.held)::text as actual, jsonb_build_object('budget_id', w.budget_id) as details
  from budget_windows w
  cross join lateral (
    select coalesce((
        select sum(entry.amount) from budget_entries entry
        where entry.organization_id = w.organization_id and entry.window_id = w.id and entry.folded_at is not null
      ), 0) as spent,
      coalesce((
        select sum(part.held) from budget_hold_parts part
        where part.organization_id = w.organization_id and part.window_id = w.id and part.is_open
      ), 0) as held
  ) ledger
  where w.organization_id = ${organizationId} and (w.spent <> ledger.spent or w.held <> ledger.held)
  order by w.id
  limit ${MOST_FINDINGS}`;

/**
 * Windows of hard budgets in which holds took more than there was: what they settled in time, each at most what it
 * held, and what is held, less what entries took back. Of budgets that were never changed, since a lower limit
 * unsettles nothing, and of windows whose whole ledger is there.
 */
const findOverspent = ({ db, organizationId }: Context) => db<Finding[]>`
  select w.id as resource_id, 'at most ' || ceiling.most as expected, trim_scale(taken.amount)::text as actual,
    jsonb_build_object('budget_id', w.budget_id) as details
  from budgets b
  join budget_windows w on w.organization_id = b.organization_id and w.budget_id = b.id
  cross join lateral (
    select trim_scale(w.topped_up + coalesce((
      select (override ->> 'limit')::numeric from jsonb_array_elements(b.overrides) override
      where override -> 'values' = w.group_values limit 1), b.most)) as most
  ) ceiling
  cross join lateral (
    select w.held + coalesce((
        select sum(least(part.settled, part.held)) from budget_hold_parts part
        join budget_holds hold on hold.organization_id = part.organization_id and hold.id = part.hold_id
        where part.organization_id = w.organization_id and part.window_id = w.id and not hold.is_late
      ), 0) + coalesce((
        select sum(entry.amount) from budget_entries entry
        where entry.organization_id = w.organization_id and entry.window_id = w.id and entry.amount < 0
      ), 0) as amount
  ) taken
  where b.organization_id = ${organizationId} and b.mode = 'hard' and b.updated_at = b.created_at
    and b.deleted_at is null and taken.amount > ceiling.most and not exists (
      select from budget_entries entry
      where entry.organization_id = w.organization_id and entry.window_id = w.id and entry.source = 'opening')
  order by w.id
  limit ${MOST_FINDINGS}`;
