import type { Budget } from '../../../engine/budgets/budget.ts';
import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { holdCatalog } from '../budget-windows/decide-in-command.ts';
import { type PlacedWindow, windowOfGroup } from '../budget-windows/place-usage.ts';
import { readSubscribers } from '../budget-windows/subscribers.ts';
import { budgets } from './queries.ts';

interface NamedWindow {
  budget: Budget;
  version: number;
  window: PlacedWindow;
}

/**
 * The current window of a group of a budget, which nobody changes or deletes until the transaction ends.
 *
 * @throws Refusal 404 budget; 422 group: value_is_mandatory of a budget with `group_by`, value_is_invalid of other keys
 */
export async function namedWindow(
  ctx: Context,
  code: string,
  group: Record<string, string | null>,
): Promise<NamedWindow> {
  const row = await getRow(ctx, budgets, code);
  const catalog = await holdCatalog(ctx);
  const terms = catalog.budgets.find((budget) => budget.id === row.id);
  if (!terms) throw refuse.notFound('budget');
  const keys = Object.keys(group);
  if (terms.group_by.length > 0 && keys.length === 0) throw refuse.invalid({ group: ['value_is_mandatory'] });
  if (keys.length !== terms.group_by.length || keys.some((key) => !terms.group_by.includes(key)))
    throw refuse.invalid({ group: ['value_is_invalid'] });
  const values = terms.group_by.map((key) => group[key] ?? null);
  const externalId = terms.external_subscription_id;
  const subscribers = await readSubscribers(ctx, externalId === null ? [] : [externalId], [terms]);
  const at = ctx.now();
  const window = windowOfGroup(terms, values, {
    at,
    billingPeriod: () => subscribers.billingPeriods(externalId!, at),
  });
  if (!window) throw refuse.notFound('subscription');
  return { budget: terms, version: catalog.version, window };
}
