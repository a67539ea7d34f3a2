import { type Decimal, decimal, ZERO } from '../../money/decimal.ts';
import type { AnsweredLine } from './answer.ts';

/** Longest code of a tax; part of a unique key of the database. */
const CODE_MAX = 100;

/** A tax of a line under the name that the invoice shows. */
export interface NamedTax {
  code: string;
  name: string;
  description: string | null;
  /** Percent: 4.81 is 4.81 %. */
  rate: Decimal;
  /** Exact amount in cents, with decimals. */
  amountCents: Decimal;
}

/** The answer about one fee under the names that the invoice shows. */
export interface NamedLine {
  key: string;
  collectedCents: number;
  taxes: readonly NamedTax[];
}

/**
 * Names the taxes of an answer: jurisdiction and name together, with its snake case as the code. Two taxes are the same
 * if name and rate are; another tax with the same code gets the suffix `_2`. A line that is not taxed has one tax of
 * rate 0, named by the reason.
 *
 *   Denver (local), Tax, 0.0481  →  "Denver (local) Tax", denver_local_tax, 4.81
 *
 * Rule: tax-engines.md#what-the-answer-becomes.
 */
export function nameTaxes(lines: readonly AnsweredLine[]): NamedLine[] {
  const codeOf = codeGiver();
  const named = (name: string, rate: Decimal, amountCents: Decimal, description: string | null): NamedTax => ({
    code: codeOf(name, rate),
    name,
    description,
    rate,
    amountCents,
  });
  return lines.map(({ key, collectedCents, taxes, notTaxed }) => ({
    key,
    collectedCents,
    taxes:
      taxes.length === 0
        ? [named(wordsOf(notTaxed ?? UNKNOWN), ZERO, ZERO, notTaxed ?? UNKNOWN)]
        : merged(
            taxes.map(({ jurisdiction, name, rate, amountCents }) =>
              named(`${jurisdiction} ${name}`.trim(), decimal(rate).times(100), amountCents, null),
            ),
          ),
  }));
}

/** The reason of a line without taxes for which the engine gives none. */
const UNKNOWN = 'unknown_taxation';

/** A fee holds each code once, so amounts of the same tax are added. */
function merged(taxes: readonly NamedTax[]): NamedTax[] {
  const byCode = new Map<string, NamedTax>();
  for (const tax of taxes) {
    const known = byCode.get(tax.code);
    byCode.set(tax.code, known ? { ...known, amountCents: known.amountCents.plus(tax.amountCents) } : tax);
  }
  return [...byCode.values()];
}

function codeGiver(): (name: string, rate: Decimal) => string {
  const codes = new Map<string, string>();
  const taken = new Set<string>();
  return (name, rate) => {
    const key = `${name}|${rate.toFixed()}`;
    const known = codes.get(key);
    if (known !== undefined) return known;
    const code = freeCode(snakeCase(name), taken);
    codes.set(key, code);
    taken.add(code);
    return code;
  };
}

/** A code that no other tax has: `vat`, else `vat_2`, `vat_3` … */
export function freeCode(wished: string, taken: ReadonlySet<string>): string {
  for (let copy = 1; ; copy += 1) {
    const suffix = copy === 1 ? '' : `_${copy}`;
    const code = `${wished.slice(0, CODE_MAX - suffix.length)}${suffix}`;
    if (!taken.has(code)) return code;
  }
}

/** `Denver (local) Tax` → `denver_local_tax`; `notCollecting` → `not_collecting`. */
export const snakeCase = (text: string): string =>
  text
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '') || 'tax';

/** `not_collecting` → `Not collecting`. */
const wordsOf = (reason: string): string => {
  const words = reason.replaceAll('_', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};
