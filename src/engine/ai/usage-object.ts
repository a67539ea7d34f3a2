import { isKeptNumber } from '../metrics/property-text.ts';
import { Decimal, ZERO } from '../money/decimal.ts';
import { own } from '../own.ts';
import type { ReadField } from './close-parts.ts';
import type { Format, Path } from './formats/format.ts';
import { bears, type Found, findAll, findOne, isMember, isPlain, type Member } from './read-path.ts';

/** What a call was read from: a body and its usage object. */
export interface CallBody {
  body: unknown;
  usage: Member;
  /** Names and places before the body and before the usage object, for errors. */
  bodyAt: readonly (string | number)[];
  usageAt: readonly (string | number)[];
  /** The usage object is the whole body. */
  isBare: boolean;
}

/** The usage object of a body: the first place that holds a field of the format. */
export function usageIn(
  format: Format,
  body: unknown,
  bodyAt: readonly (string | number)[] = [],
): CallBody | undefined {
  for (const path of format.usage) {
    const [found] = findAll(body, path);
    if (found === undefined || !isMember(found.value) || !holdsField(format, found.value)) continue;
    return { body, bodyAt, usage: found.value, usageAt: [...bodyAt, ...found.at], isBare: path === '' };
  }
  return undefined;
}

const holdsField = (format: Format, usage: Member): boolean =>
  format.variants.some(({ fields }) => fields.some(({ path }) => path.some((each) => isAt(format, usage, each))));

/** Terms of a path that is a sum; paths of formats are constants. */
const terms = new Map<Path, readonly Path[]>();

function termsOf(path: Path): readonly Path[] {
  let known = terms.get(path);
  if (!known) {
    known = path.split(' + ');
    terms.set(path, known);
  }
  return known;
}

const onePlace = new Map<Path, boolean>();

/** Whether a path is no sum and leads into no list, so that it has one number at most. */
function isOnePlace(path: Path): boolean {
  let known = onePlace.get(path);
  if (known === undefined) {
    known = termsOf(path).length === 1 && isPlain(path);
    onePlace.set(path, known);
  }
  return known;
}

const isAt = (format: Format, usage: Member, path: Path): boolean =>
  format.flatPrefix === undefined
    ? termsOf(path).some((term) => findOne(usage, term) !== undefined)
    : findOne(usage, path, true) !== undefined;

const findSum = (format: Format, usage: Member, path: Path): Found[] => {
  if (format.flatPrefix === undefined) {
    const [first, ...others] = termsOf(path);
    return others.length === 0 ? findAll(usage, first!) : [first!, ...others].flatMap((term) => findAll(usage, term));
  }
  const value = own(usage, path);
  return value === undefined || value === null ? [] : [{ value, at: [path] }];
};

/** Most of anything that one call may have used. */
const MOST_WHOLE = 1e12;
const MOST = new Decimal(MOST_WHOLE);
const SECONDS_DIGITS = 15;

/** A quantity of a body: an integer, or a decimal of seconds; undefined for anything else. */
function quantityOf(value: unknown, isOfSeconds: boolean): Decimal | undefined {
  if (value === 0) return ZERO;
  // A safe integer is what it says, as nearly all quantities are.
  if (Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= MOST_WHOLE)
    return new Decimal(value as number);
  const text = typeof value === 'number' ? String(value) : isKeptNumber(value) ? value.value : undefined;
  if (text === undefined) return undefined;
  const quantity = new Decimal(text);
  if (!quantity.isFinite() || quantity.gt(MOST) || quantity.lt(0)) return undefined;
  if (quantity.decimalPlaces() > (isOfSeconds ? SECONDS_DIGITS : 0)) return undefined;
  return quantity.isZero() ? ZERO : quantity; // zero may have a sign here
}

/**
 * Numbers of the fields of a variant.
 *
 * faults         gets the place of each number that is none
 * includesCache  the input contains what was cached, where the format knows both forms
 */
export function readFields(
  format: Format,
  { body, usage, bodyAt, usageAt }: CallBody,
  { faults, includesCache }: { faults: string[]; includesCache: boolean },
): { fields: ReadField[]; flag: string | undefined } {
  const variant = format.variants.find(
    ({ when, option }) => (when === undefined || bears(usage, [when])) && (option === undefined || includesCache),
  )!;
  const numberAt = (path: Path, isOfSeconds = false): Decimal | undefined => {
    const isFlat = format.flatPrefix !== undefined;
    if (isFlat || isOnePlace(path)) {
      const value = findOne(usage, path, isFlat);
      const quantity = value === undefined ? undefined : quantityOf(value, isOfSeconds);
      if (value === undefined || quantity !== undefined) return quantity;
    }
    let sum: Decimal | undefined;
    for (const { value, at } of findSum(format, usage, path)) {
      const quantity = quantityOf(value, isOfSeconds);
      if (quantity === undefined) faults.push(placeText([...usageAt, ...at]));
      else sum = sum?.plus(quantity) ?? quantity;
    }
    return sum;
  };
  const fields = variant.fields.map((row): ReadField => {
    const path = row.path.find((each) => isAt(format, usage, each));
    if (path === undefined) return { row, quantity: undefined };
    const quantity = numberAt(path, row.kind === 'audio_seconds');
    const less = row.less === undefined ? undefined : numberAt(row.less);
    if (quantity === undefined || less === undefined) return { row, quantity };
    return { row, quantity: less.gt(quantity) ? ZERO : quantity.minus(less) };
  });
  for (const { list, type, kind } of format.counts ?? []) {
    const [elements] = findAll(body, list);
    if (elements === undefined || !Array.isArray(elements.value)) continue;
    const count = elements.value.filter((element) => isMember(element) && own(element, 'type') === type).length;
    if (count > 0) fields.push({ row: { path: [placeText([...bodyAt, list])], kind }, quantity: new Decimal(count) });
  }
  return { fields, flag: variant.flag };
}

/** The grand total; undefined if there is none. A number that is none is a fault. */
export function grandTotal(format: Format, { usage, usageAt }: CallBody, faults: string[]): Decimal | undefined {
  const [found] = format.grand === undefined ? [] : findSum(format, usage, format.grand);
  if (found === undefined) return undefined;
  const quantity = quantityOf(found.value, false);
  if (quantity === undefined) faults.push(placeText([...usageAt, ...found.at]));
  return quantity;
}

/** `['usage', 'prompt_tokens']` → `usage.prompt_tokens` */
export const placeText = (at: readonly (string | number)[]): string => at.join('.');
