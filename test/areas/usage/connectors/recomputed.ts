/**
 * A calculation of its own of what a set of messages comes to: it shares no line with the service. Literals are JSON,
 * so that a test decides on each digit.
 */
export interface Written {
  id: string;
  subscription: string;
  code: string;
  /** A literal of the timestamp, and what it means in microseconds; neither where it is absent. */
  at?: readonly [literal: string, micros: bigint];
  properties: Readonly<Record<string, string>>;
}

export class Recomputed {
  /** By subscription and transaction id, in the order in which they came. */
  readonly stored = new Map<string, Written>();
  replayed = 0;
  readonly dead: Record<string, number> = {};

  /** An event with which nothing is wrong: the first one with its key is stored. */
  take(event: Written): void {
    const key = `${event.subscription} ${event.id}`;
    const known = this.stored.get(key);
    if (!known) this.stored.set(key, event);
    else if (isSame(known, event)) this.replayed += 1;
    else this.refuse('value_already_exist');
  }

  refuse(code: string): void {
    this.dead[code] = (this.dead[code] ?? 0) + 1;
  }

  of(code: string, subscription: string, fromMicros: bigint, toMicros: bigint, nowMicros: bigint): Written[] {
    return [...this.stored.values()].filter(({ at, ...event }) => {
      const micros = at?.[1] ?? nowMicros;
      return event.code === code && event.subscription === subscription && micros >= fromMicros && micros < toMicros;
    });
  }
}

function isSame(known: Written, event: Written): boolean {
  const sorted = ({ properties }: Written) =>
    JSON.stringify(
      Object.keys(properties)
        .sort()
        .map((name) => [name, properties[name]!.startsWith('"'), textOf(properties[name]!)]),
    );
  const isAt = event.at === undefined || event.at[1] === known.at?.[1];
  return known.code === event.code && isAt && sorted(known) === sorted(event);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The text of a literal as a property shows it: numbers in plain decimal, without zeros at their end. */
export function textOf(literal: string): string | null {
  if (literal === 'null') return null;
  if (literal.startsWith('"')) return JSON.parse(literal);
  const match = NUMBER.exec(literal);
  if (!match) return literal;
  const [, sign, whole, fraction = '', exponent = '0'] = match;
  const point = whole!.length + Number(exponent);
  const digits = `${'0'.repeat(Math.max(0, -point))}${whole}${fraction}`.padEnd(point, '0');
  const at = Math.max(point, 0);
  const before = digits.slice(0, at).replace(/^0+(?=.)/, '') || '0';
  const behind = digits.slice(at).replace(/0+$/, '');
  const text = behind === '' ? before : `${before}.${behind}`;
  return text === '0' ? '0' : `${sign}${text}`;
}

const DIGITS = 30;

/** A number in units of 10^-30; undefined for what an aggregation of numbers leaves out. */
export function numberIn(literal: string | undefined): bigint | undefined {
  const text = literal === undefined ? null : textOf(literal);
  if (text === null || !/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  const [whole, fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole! + fraction.padEnd(DIGITS, '0'));
  return text.startsWith('-') ? -value : value;
}

export const UNIT = 10n ** BigInt(DIGITS);

/** Whole cents of an amount that is units (10^-30) times a price in millionths: half a cent is rounded up. */
export function centsOf(units: bigint, millionths: bigint): bigint {
  const [value, of] = [units * millionths * 100n, UNIT * 1_000_000n];
  return (2n * value + of) / (2n * of);
}
