import { decimal } from '../../../src/engine/money/decimal.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import type { Answered } from './callers.ts';

export interface Checked {
  /** Windows, and decisions that were answered. */
  windows: number;
  allowed: number;
  refused: number;
  /** B1: the most that was committed above a limit, by the answers that allowed. */
  overspent: string;
  /** B1 again, at every instant of the ledger; null where usage without holds may pass the limit. */
  overspentInLedger: string | null;
  /** B2: refusals that are not true in their own figures, or not in the order of their numbers. */
  falseRefusals: number;
  /** B3: the sum of what windows differ from ledger, open holds and events. */
  drift: string;
}

/**
 * Checks what callers were told, and the ledger against windows, holds and events. The callers have ended.
 *
 * run         value of the property `run`, by which the budgets of these callers are chosen
 * isAllHeld   whether all usage settles holds
 */
export async function checkLedger(
  sql: Sql,
  organizationId: string,
  { run, answers, isAllHeld }: { run: string; answers: readonly Answered[]; isAllHeld: boolean },
): Promise<Checked> {
  // Rows that came within the last minute: without statistics they are joined one by one.
  await sql`analyze events, budgets, budget_windows, budget_holds, budget_hold_parts, budget_entries`;
  const drifts = await listDrifts(sql, organizationId, run);
  const [most] = isAllHeld ? await mostCommitted(sql, organizationId, run) : [];
  // A repetition shows the figures of its own time.
  const allowed = answers.filter((answer) => answer.allowed && !answer.isReplayed);
  const refused = answers.filter((answer) => !answer.allowed);
  const above = allowed.flatMap(({ budgets }) =>
    budgets.map(({ limit, spent, held }) => decimal(spent).plus(held).minus(limit)),
  );
  const isTrue = ({ budgets, exceeded, reasons }: Answered): boolean =>
    reasons.includes('hold_closed') ||
    budgets.some(
      ({ code, limit, spent, held, requested }) =>
        exceeded.includes(code) && decimal(spent).plus(held).plus(requested).gt(limit),
    );
  return {
    windows: drifts.length,
    allowed: allowed.length,
    refused: refused.length,
    overspent: above.reduce((greatest, each) => (each.gt(greatest) ? each : greatest), decimal(0)).toFixed(),
    overspentInLedger: most ? (decimal(most.above).gt(0) ? decimal(most.above).toFixed() : '0') : null,
    falseRefusals: refused.filter((answer) => !isTrue(answer)).length + countDisordered(answers),
    drift: drifts.reduce((sum, { drift }) => sum.plus(drift), decimal(0)).toFixed(),
  };
}

/**
 * Pairs of answers about one window that contradict the order of their numbers: two decisions with one number, or less
 * spent by a later one. An answer that is repeated shows the figures of the repetition.
 */
function countDisordered(answers: readonly Answered[]): number {
  const byWindow = new Map<string, { no: number; spent: string }[]>();
  for (const { budgets, isReplayed } of answers)
    for (const { code, group, decision_no: no, spent } of isReplayed ? [] : budgets) {
      const window = `${code} ${JSON.stringify(group)}`;
      byWindow.set(window, [...(byWindow.get(window) ?? []), { no, spent }]);
    }
  let disordered = 0;
  for (const decisions of byWindow.values()) {
    decisions.sort((a, b) => a.no - b.no);
    for (const [index, { no, spent }] of decisions.entries()) {
      const before = decisions[index - 1];
      if (before && (before.no === no || decimal(before.spent).gt(spent))) disordered += 1;
    }
  }
  return disordered;
}

const windowsOf = (sql: Sql, organizationId: string, run: string) => sql`
  budget_windows w
  join budgets b on b.organization_id = w.organization_id and b.id = w.budget_id and b.match ->> 'run' = ${run}
  where w.organization_id = ${organizationId}`;

/** By window: how far it is from its entries, open parts and events. Events are counted once a budget, by group. */
const listDrifts = (sql: Sql, organizationId: string, run: string) => sql<{ drift: string }[]>`
  with own as materialized (
    select w.*, b.group_by, b.match from ${windowsOf(sql, organizationId, run)}
  ), counted as materialized (
    select budget_id, group_values, sum((properties ->> 'tokens')::numeric) as tokens
    from (
      select budget.budget_id, e.properties, coalesce((
          select jsonb_agg(e.properties ->> grouped.key order by grouped.place)
          from unnest(budget.group_by) with ordinality as grouped (key, place)), '[]') as group_values
      from (select distinct budget_id, group_by, match from own) budget
      join events e on e.organization_id = ${organizationId} and e.external_subscription_id = 'ada-1'
        and e.code = 'ai_usage' and e.deleted_at is null and e.properties @> budget.match
    ) event
    group by budget_id, group_values
  )
  select (abs(w.spent - ledger.folded) + abs(w.held - ledger.held)
    + abs(ledger.all_of_it - coalesce(counted.tokens, 0)))::text as drift
  from own w
  left join counted on counted.budget_id = w.budget_id and counted.group_values = w.group_values
  cross join lateral (
    select coalesce(sum(amount) filter (where folded_at is not null), 0) as folded,
      coalesce(sum(amount), 0) as all_of_it,
      (
        select coalesce(sum(held), 0) from budget_hold_parts part where part.window_id = w.id and part.is_open
      ) as held
    from budget_entries entry where entry.organization_id = w.organization_id and entry.window_id = w.id
  ) ledger`;

/** The most that was committed above the limit of a window, at any instant of its ledger and holds. */
const mostCommitted = (sql: Sql, organizationId: string, run: string) => sql<{ above: string }[]>`
  with change as materialized (
    select part.window_id, hold.created_at as at, part.held as amount
    from budget_hold_parts part
    join budget_holds hold on hold.organization_id = part.organization_id and hold.id = part.hold_id
    where part.organization_id = ${organizationId}
    union all
    select part.window_id, coalesce(hold.closed_at, hold.expires_at), -part.held
    from budget_hold_parts part
    join budget_holds hold on hold.organization_id = part.organization_id and hold.id = part.hold_id
    where part.organization_id = ${organizationId} and not part.is_open
    union all
    select window_id, created_at, amount from budget_entries where organization_id = ${organizationId}
  ), instant as (
    select window_id, at, sum(amount) as amount from change group by window_id, at
  ), running as materialized (
    select window_id, sum(amount) over (partition by window_id order by at) as committed from instant
  )
  select coalesce(max(running.committed - w.most), 0)::text as above
  from running
  join (select w.id, b.most from ${windowsOf(sql, organizationId, run)}) w on w.id = running.window_id`;
