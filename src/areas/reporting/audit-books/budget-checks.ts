import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Invariants of budgets. Rule: auditor.md. */
export const BUDGET_CHECKS: readonly Check[] = [
  {
    code: 'A34',
    mustHold: 'a window has spent what was folded of its entries, and holds what its open parts hold',
    resourceType: 'BudgetWindow',
    find: ({ db, organizationId }) => db<Finding[]>`
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
      limit ${MOST_FINDINGS}`,
  },
];
