import { evaluateExpression } from '../../../engine/metrics/evaluate-expression.ts';
import { parseExpression } from '../../../engine/metrics/parse-expression.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ExpressionEvaluation } from './schema.ts';

/**
 * Tries an expression on an event that is not stored. Rule: billable-metrics.md#expressions.
 *
 * @throws Refusal 422 expression: invalid_expression; event: invalid_event, when it fails on this event
 */
export async function evaluateMetricExpression(ctx: Context, { body }: { body: ExpressionEvaluation }) {
  const expression = parseExpression(body.expression);
  if (!expression) throw refuse.invalid({ expression: ['invalid_expression'] });
  const evaluated = evaluateExpression(expression, {
    code: body.event.code ?? '',
    timestamp: body.event.timestamp ?? Math.floor(ctx.now().epochMilliseconds / 1000),
    properties: body.event.properties ?? {},
  });
  if (!evaluated.ok) throw refuse.invalid({ event: ['invalid_event'] });
  return { expression_result: { value: evaluated.value } };
}
