import { numericValue } from '../metrics/numeric-text.ts';
import { propertyText } from '../metrics/property-text.ts';
import { type Decimal, ONE } from '../money/decimal.ts';
import { own } from '../own.ts';
import type { Budget } from './budget.ts';

/** What an event gives to be measured. */
export interface MeasuredEvent {
  code: string;
  properties: Readonly<Record<string, unknown>>;
  /** Plain decimal in cents. */
  precise_total_amount_cents: string | null;
}

/** Properties of an event: what a call of a model cost, in cents, and its tokens. */
const COST_PROPERTY = 'ai_cost_cents';
const TOKENS_PROPERTY = 'tokens';

/**
 * What an event adds to a budget; undefined if it lacks the figure, and does not count.
 *
 *   sum of field `calls`, event with calls 3 → 3
 *
 * Rule: budgets.md#definition "measure".
 */
export function measureUsage({ measure, metric }: Pick<Budget, 'measure' | 'metric'>, event: MeasuredEvent) {
  const numberOf = (name: string): Decimal | undefined => numericValue(propertyText(own(event.properties, name)));
  if (measure === 'cost') return numberOf(COST_PROPERTY);
  if (measure === 'tokens') return numberOf(TOKENS_PROPERTY);
  if (measure === 'amount') return numericValue(event.precise_total_amount_cents);
  if (!metric || metric.code !== event.code) return undefined;
  return metric.field_name === null ? ONE : numberOf(metric.field_name);
}
