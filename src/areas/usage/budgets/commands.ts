import type { Budget } from '../../../engine/budgets/budget.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { deleteRow, insertRow, lockRow, refuseTakenCode, updateRow } from '../../../platform/db/rows.ts';
import type { BudgetId } from '../../../platform/ids.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { raiseShapesVersion } from '../../catalog/usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';
import { decideInCommand } from '../budget-windows/decide-in-command.ts';
import { budgetSweep } from '../budget-windows/nudge-sweep.ts';
import { definitionFaults, frozenFaults, newBudget, overrideFault, percentsOf, refuseTooMany } from './definition.ts';
import { namedWindow } from './named-window.ts';
import { type BudgetRow, budgets, listWindowFigures } from './queries.ts';
import type { BudgetCreate, BudgetUpdate, Reset, TopUp } from './schema.ts';
import { budgetView, windowView } from './view.ts';
import { addTopUp, sweepWindowsOf } from './writes.ts';

/**
 * Makes a budget, which counts what is stored from now on.
 *
 * @throws Refusal 404 customer, subscription, feature, billable_metric; 422 by field
 * Rule: budgets.md#definition.
 */
export async function createBudget(ctx: Context, { body }: { body: BudgetCreate }) {
  refuseFaults(definitionFaults(body));
  await refuseTakenCode(ctx, budgets, body.code);
  const fields = await newBudget(ctx, body);
  await refuseTooMany(ctx, { budgets: 1, overrides: fields.overrides.length });
  await changeWhatIsCounted(ctx);
  return answer(ctx, 'created', await insertRow(ctx, budgets, fields));
}

/**
 * Changes what may change of a budget; the next decision of every window sees it, and their states follow.
 *
 * @throws Refusal 404 budget; 422 by field, value_is_frozen
 * Rule: budgets.md#definition.
 */
export async function updateBudget(ctx: Context, { code, body }: { code: string; body: BudgetUpdate }) {
  const stored = await lockBudget(ctx, code);
  const faults = frozenFaults(body, stored);
  if (body.overrides && overrideFault(body.overrides, stored.group_by)) faults.overrides = ['value_is_invalid'];
  refuseFaults(faults);
  if (body.overrides)
    await refuseTooMany(ctx, { budgets: 0, overrides: body.overrides.length - stored.overrides.length });
  await changeWhatIsCounted(ctx);
  const budget = await updateRow(ctx, budgets, stored, {
    name: body.name,
    overrides: body.overrides,
    mode: body.mode,
    on_outage: body.on_outage,
    unknown_price: body.unknown_price,
    ...(body.limit === undefined ? {} : { most: decimal(body.limit) }),
    ...(body.offline_allowance === undefined ? {} : { offline_allowance: decimal(body.offline_allowance) }),
    ...(body.alert_percents === undefined ? {} : { alert_percents: percentsOf(body.alert_percents) }),
  });
  if (body.limit !== undefined || body.overrides || body.mode) await followInWindows(ctx, budget.id);
  return answer(ctx, 'updated', budget, stored);
}

/**
 * Deletes a budget: nothing counts any more, what is held of it is released, its windows stay, its code is free.
 *
 * @throws Refusal 404 budget
 */
export async function deleteBudget(ctx: Context, { code }: { code: string }) {
  const budget = await lockBudget(ctx, code);
  await changeWhatIsCounted(ctx);
  await deleteRow(ctx, budgets, budget.id);
  await followInWindows(ctx, budget.id);
  return answer(ctx, 'deleted', budget);
}

/**
 * Adds to the limit of the current window of a group; the next decision sees it.
 *
 * @throws Refusal 404 budget; 422 group
 * Rule: budgets.md#life-of-a-window.
 */
export async function topUpBudget(ctx: Context, { code, body }: { code: string; body: TopUp }) {
  const { budget, version, window } = await namedWindow(ctx, code, body.group ?? {});
  await addTopUp(ctx, window, body.amount);
  await decideInCommand(ctx, { version, windows: [window], steps: [] });
  return changedWindow(ctx, 'topped_up', {
    budget,
    id: window.id,
    details: { amount: body.amount, reason: body.reason },
  });
}

/**
 * Books that nothing was spent in the current window of a group; open holds stay held.
 *
 * @throws Refusal 404 budget; 422 group
 * Rule: budgets.md#life-of-a-window.
 */
export async function resetBudget(ctx: Context, { code, body }: { code: string; body: Reset }) {
  const { budget, version, window } = await namedWindow(ctx, code, body.group ?? {});
  await decideInCommand(ctx, { version, windows: [window], steps: [{ s: 'reset', window: window.id }] });
  return changedWindow(ctx, 'reset', { budget, id: window.id, details: { reason: body.reason } });
}

async function changedWindow(
  ctx: Context,
  action: 'topped_up' | 'reset',
  { budget, id, details }: { budget: Budget; id: string; details: object },
) {
  const [row] = await listWindowFigures(ctx, [id], ctx.now());
  if (!row) throw refuse.invalid({ base: ['too_many_windows'] });
  const window = windowView(budget, row, ctx.now());
  ctx.record({
    activity: {
      type: `budget.${action}`,
      resourceType: 'Budget',
      resourceId: budget.id,
      object: { ...window, ...details },
    },
  });
  return { window };
}

/**
 * Locked so that its windows may be changed: a decision that changes one again refers to the budget once more.
 *
 * @throws Refusal 404 budget
 */
const lockBudget = (ctx: Context, code: string) => lockRow(ctx, budgets, code, 'no key update');

/** To be called before what storing looks at changes: no event and no decision is under way then. */
async function changeWhatIsCounted(ctx: Context): Promise<void> {
  await lockOrganizationEvents(ctx);
  await raiseShapesVersion(ctx);
}

async function followInWindows(ctx: Context, id: BudgetId): Promise<void> {
  await sweepWindowsOf(ctx, id);
  ctx.after({ nudge: 'periodic.work', payload: budgetSweep(ctx.now()) });
}

function answer(ctx: Context, action: 'created' | 'updated' | 'deleted', budget: BudgetRow, before?: BudgetRow) {
  const object = budgetView(budget);
  const former = before ? { before: budgetView(before) } : {};
  recordChange(ctx, { name: 'budget', resourceType: 'Budget', action, object, ...former });
  return { budget: object };
}
