import { type Decimal, decimal } from '../money/decimal.ts';

export type Operator = '+' | '-' | '*' | '/';
export type FunctionName = 'ceil' | 'floor' | 'round' | 'concat' | 'least' | 'greatest';

/** A parsed expression: a tree of what is computed from an event. */
export type Expression =
  | { kind: 'number'; value: Decimal }
  | { kind: 'text'; value: string }
  | { kind: 'code' }
  | { kind: 'timestamp' }
  | { kind: 'property'; name: string }
  | { kind: 'negation'; of: Expression }
  | { kind: 'operation'; operator: Operator; left: Expression; right: Expression }
  | { kind: 'call'; name: FunctionName; inputs: Expression[] };

/** How many inputs each function takes. */
const INPUTS: Readonly<Record<FunctionName, { least: number; most: number }>> = {
  ceil: { least: 1, most: 2 },
  floor: { least: 1, most: 2 },
  round: { least: 1, most: 2 },
  concat: { least: 1, most: Number.POSITIVE_INFINITY },
  least: { least: 1, most: Number.POSITIVE_INFINITY },
  greatest: { least: 1, most: Number.POSITIVE_INFINITY },
};

/** Deepest nesting of parentheses, calls and signs: far beyond what people write, well within the call stack. */
const MAX_DEPTH = 100;

/** One token per match; only the space is a blank. */
const TOKEN = / *(?:(?<number>\d+(?:\.\d+)?)|(?<text>'[^']*')|(?<word>[A-Za-z][A-Za-z0-9_.]*)|(?<sign>[-+*/(),]))/y;
const PROPERTY = /^event\.properties\.([A-Za-z][A-Za-z0-9_]*)$/;

interface Token {
  kind: 'number' | 'text' | 'word' | 'sign';
  text: string;
}

class SyntaxFault extends Error {}

/**
 * The tree of an expression, or undefined when it does not parse.
 *
 *   round(event.properties.value * 2, 1)
 *
 * Rule: billable-metrics.md#expressions "grammar".
 */
export function parseExpression(source: string): Expression | undefined {
  const tokens = tokensOf(source);
  if (!tokens) return undefined;
  try {
    const parser = new Parser(tokens);
    const expression = parser.sum();
    return parser.isAtEnd() ? expression : undefined;
  } catch (error) {
    if (error instanceof SyntaxFault) return undefined;
    throw error;
  }
}

function tokensOf(source: string): Token[] | undefined {
  const tokens: Token[] = [];
  const trimmed = source.replace(/ +$/, '');
  let position = 0;
  while (position < trimmed.length) {
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(trimmed);
    if (!match) return undefined;
    const [kind, text] = Object.entries(match.groups!).find(([, found]) => found !== undefined)!;
    tokens.push({ kind: kind as Token['kind'], text: text! });
    position = TOKEN.lastIndex;
  }
  return tokens;
}

/** One method for each level of precedence, lowest first. */
class Parser {
  #position = 0;
  #depth = 0;
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  isAtEnd(): boolean {
    return this.#position === this.#tokens.length;
  }

  sum(): Expression {
    return this.#leftToRight(['+', '-'], () => this.#product());
  }

  #product(): Expression {
    return this.#leftToRight(['*', '/'], () => this.#signed());
  }

  #leftToRight(operators: Operator[], next: () => Expression): Expression {
    let left = next();
    for (;;) {
      const operator = operators.find((sign) => this.#accept(sign));
      if (!operator) return left;
      left = { kind: 'operation', operator, left, right: next() };
    }
  }

  #signed(): Expression {
    return this.#deeper(() => (this.#accept('-') ? { kind: 'negation', of: this.#signed() } : this.#primary()));
  }

  #primary(): Expression {
    if (this.#accept('(')) {
      const inner = this.sum();
      this.#expect(')');
      return inner;
    }
    const token = this.#tokens[this.#position++];
    if (token?.kind === 'number') return { kind: 'number', value: decimal(token.text) };
    if (token?.kind === 'text') return { kind: 'text', value: token.text.slice(1, -1) };
    if (token?.kind === 'word') return variableOf(token.text) ?? this.#call(token.text);
    throw new SyntaxFault();
  }

  #call(word: string): Expression {
    const name = functionOf(word);
    if (!name) throw new SyntaxFault();
    this.#expect('(');
    const inputs: Expression[] = [];
    if (!this.#accept(')')) {
      do inputs.push(this.sum());
      while (this.#accept(','));
      this.#expect(')');
    }
    const { least, most } = INPUTS[name];
    if (inputs.length < least || inputs.length > most) throw new SyntaxFault();
    return { kind: 'call', name, inputs };
  }

  #accept(sign: string): boolean {
    const token = this.#tokens[this.#position];
    if (token?.kind !== 'sign' || token.text !== sign) return false;
    this.#position++;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#accept(sign)) throw new SyntaxFault();
  }

  #deeper(parse: () => Expression): Expression {
    if (++this.#depth > MAX_DEPTH) throw new SyntaxFault();
    const expression = parse();
    this.#depth--;
    return expression;
  }
}

function variableOf(word: string): Expression | undefined {
  if (word === 'event.code') return { kind: 'code' };
  if (word === 'event.timestamp') return { kind: 'timestamp' };
  const name = PROPERTY.exec(word)?.[1];
  return name === undefined ? undefined : { kind: 'property', name };
}

/** All-lower, ALL-UPPER or Capitalized. */
function functionOf(word: string): FunctionName | undefined {
  const lower = word.toLowerCase();
  const isKnown = (name: string): name is FunctionName => Object.hasOwn(INPUTS, name);
  const forms = [lower, lower.toUpperCase(), lower.charAt(0).toUpperCase() + lower.slice(1)];
  return isKnown(lower) && forms.includes(word) ? lower : undefined;
}
