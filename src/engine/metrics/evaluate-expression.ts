import { type Decimal, decimal, decimalText, max, min, ZERO } from '../money/decimal.ts';
import { own } from '../own.ts';
import type { Expression, FunctionName } from './parse-expression.ts';
import { propertyText } from './property-text.ts';
import { type RoundingFunction, roundUnits } from './round-units.ts';

/** The fields of an event that an expression can read. */
export interface ExpressionEvent {
  code: string;
  /** Whole Unix seconds. */
  timestamp: number;
  properties: Readonly<Record<string, unknown>>;
}

export type Evaluated =
  /** A number's decimal text ("3.0") or a text as it is. */
  | { ok: true; value: string }
  /** Error in the wording of the API: "Variable: b not found". */
  | { ok: false; reason: string };

/** A text, with its number unless it is text for good. */
interface Value {
  text: string;
  number: Decimal | undefined;
}

/** Property texts that count as numbers in an expression. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?$/;
/** The longest text that counts as a number. */
const MAX_NUMBER_LENGTH = 100;
/** How many digits rounding may name: those beyond the precision change nothing. */
const MAX_DIGITS = 60;

class EvaluationFault extends Error {}

/**
 * Value of an expression for an event.
 *
 *   event.properties.a + event.properties.b with "1" and "2" → "3.0"
 *
 * Refused: a missing property, a text where a number is needed, a division by zero.
 * Rule: billable-metrics.md#expressions "evaluation".
 */
export function evaluateExpression(expression: Expression, event: ExpressionEvent): Evaluated {
  try {
    const { number, text } = valueIn(expression, event);
    return { ok: true, value: number ? decimalText(number) : text };
  } catch (error) {
    if (error instanceof EvaluationFault) return { ok: false, reason: error.message };
    throw error;
  }
}

function valueIn(expression: Expression, event: ExpressionEvent): Value {
  const numberOf = (part: Expression): Decimal => {
    const { number } = valueIn(part, event);
    if (!number) throw new EvaluationFault('Expected a decimal');
    return number;
  };
  switch (expression.kind) {
    case 'number':
      return ofNumber(expression.value);
    case 'text':
      return ofText(expression.value);
    case 'code':
      return ofText(event.code);
    case 'timestamp':
      return ofNumber(decimal(event.timestamp));
    case 'property':
      return ofProperty(expression.name, event);
    case 'negation':
      return ofNumber(numberOf(expression.of).negated());
    case 'operation':
      return ofNumber(operate[expression.operator](numberOf(expression.left), numberOf(expression.right)));
    case 'call':
      if (expression.name === 'concat')
        return ofText(expression.inputs.map((input) => valueIn(input, event).text).join(''));
      return ofNumber(functions[expression.name](expression.inputs.map(numberOf)));
  }
}

const ofNumber = (number: Decimal): Value => ({ text: number.toFixed(), number });
const ofText = (text: string): Value => ({ text, number: undefined });

function ofProperty(name: string, { properties }: ExpressionEvent): Value {
  const text = propertyText(own(properties, name));
  if (text === null) throw new EvaluationFault(`Variable: ${name} not found`);
  const isNumber = text.length <= MAX_NUMBER_LENGTH && DECIMAL.test(text);
  return { text, number: isNumber ? decimal(text) : undefined };
}

const operate = {
  '+': (left: Decimal, right: Decimal) => left.plus(right),
  '-': (left: Decimal, right: Decimal) => left.minus(right),
  '*': (left: Decimal, right: Decimal) => left.times(right),
  '/': (left: Decimal, right: Decimal) => {
    if (right.isZero()) throw new EvaluationFault('Division by zero');
    return left.div(right);
  },
};

const functions: Record<Exclude<FunctionName, 'concat'>, (inputs: Decimal[]) => Decimal> = {
  ceil: ([value, digits]) => rounded('ceil', value!, digits),
  floor: ([value, digits]) => rounded('floor', value!, digits),
  round: ([value, digits]) => rounded('round', value!, digits),
  least: (inputs) => inputs.reduce(min),
  greatest: (inputs) => inputs.reduce(max),
};

/** Fractional digits are truncated to a whole number; absent means 0. */
function rounded(rounding_function: RoundingFunction, value: Decimal, digits: Decimal = ZERO): Decimal {
  const bounded = max(min(digits, decimal(MAX_DIGITS)), decimal(-MAX_DIGITS));
  return roundUnits(value, { rounding_function, rounding_precision: bounded.trunc().toNumber() });
}
