import type { StoredFeeInputs } from './stored-inputs.ts';

/** Parts of stored inputs whose fields fees may have in common. Statements look into the other ones. */
const SECTIONS = ['window', 'price', 'metric', 'usage', 'before', 'tail'] as const;

type Fields = Record<string, unknown>;

/** Fields that several fees have in common, by section. */
export type SharedInputs = Partial<Record<(typeof SECTIONS)[number], Fields>>;

/** Inputs of a fee without the fields that it shares. */
export type OwnInputs = object;

/**
 * The fields that are equal in the inputs of all these fees, in plain JSON. A section that only some of them have is
 * not shared, so that every fee gets back exactly what it had.
 *
 * Rule: invoice-verification.md#shared-inputs.
 */
export function sharedInputs(fees: readonly object[]): SharedInputs {
  const shared: SharedInputs = {};
  for (const section of SECTIONS) {
    const all = fees.map((inputs) => fieldsOf(inputs, section));
    const common = all.reduce((left, right) => left && right && commonFields(left, right));
    if (common && Object.keys(common).length > 0) shared[section] = common;
  }
  return shared;
}

/** What is left of inputs without the fields that they share. A section that is shared completely is left out. */
export function ownInputs(inputs: object, shared: SharedInputs): OwnInputs {
  const own: Fields = { ...inputs };
  for (const [section, common] of Object.entries(shared)) {
    const rest = Object.entries(own[section] as Fields).filter(([key]) => !Object.hasOwn(common, key));
    if (rest.length === 0) delete own[section];
    else own[section] = Object.fromEntries(rest);
  }
  return own;
}

/** The inputs of a fee, put together again. */
export function wholeInputs(own: OwnInputs, shared: SharedInputs | null): StoredFeeInputs {
  const whole: Fields = { ...own };
  for (const [section, common] of Object.entries(shared ?? {}))
    whole[section] = { ...common, ...(whole[section] as Fields | undefined) };
  return whole as unknown as StoredFeeInputs;
}

function fieldsOf(inputs: object, section: string): Fields | undefined {
  const fields = (inputs as Fields)[section];
  return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as Fields) : undefined;
}

const commonFields = (left: Fields, right: Fields): Fields =>
  Object.fromEntries(
    Object.entries(left).filter(([key, value]) => Object.hasOwn(right, key) && isSame(value, right[key])),
  );

/** Whether values are the same JSON; objects whose keys are in another order count as different, which is safe. */
const isSame = (left: unknown, right: unknown): boolean =>
  left === right ||
  (typeof left === 'object' && typeof right === 'object' && JSON.stringify(left) === JSON.stringify(right));
