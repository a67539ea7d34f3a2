import { z } from 'zod';
import { isKeptNumber } from '../../engine/metrics/property-text.ts';
import { INVALID, TOO_LONG } from './fields.ts';
import { ISSUES_MAX, PROSE_MAX } from './sizes.ts';

interface ListOptions {
  /** How many elements the list may have. */
  max: number;
  /** Code for a value that is not a list. */
  wrong?: Parameters<typeof z.array>[1];
  /** Code for too many elements. */
  tooMany?: string;
}

interface RecordOptions {
  /** How many names the object may have. */
  max: number;
  wrong?: z.core.$ZodRecordParams | string;
  tooMany?: string;
}

interface ValueOptions {
  /** How many elements a list may have, and how many names an object, at any depth. */
  max: number;
  /** How many characters a text may have, also one that is a name. */
  textMax?: number;
  tooMany?: string;
}

interface Size {
  most: number;
  tooMany: string;
  textMax?: number;
}
type ListDef = z.core.$ZodArrayDef & Size;
type RecordDef = z.core.$ZodRecordDef & Size;

const tooBig = (
  payload: z.core.ParsePayload,
  inst: z.core.$ZodType,
  origin: 'array' | 'record' | 'value',
  { most, tooMany }: Size,
): z.core.ParsePayload => {
  payload.issues.push({
    code: 'too_big',
    origin,
    maximum: most,
    message: tooMany,
    input: payload.value,
    inst,
  } as never);
  return payload;
};

const BoundedList = z.core.$constructor('BoundedList', (inst: z.ZodArray, def: ListDef) => {
  z.ZodArray.init(inst as never, def as never);
  const parseOther = inst._zod.parse;
  inst._zod.bag.maximum = def.most;
  inst._zod.parse = (payload, ctx) => {
    const given = payload.value;
    if (!Array.isArray(given)) return parseOther(payload, ctx);
    if (given.length > def.most) return tooBig(payload, inst, 'array', def);
    const values: unknown[] = [];
    for (const [index, value] of given.entries()) {
      const result = def.element._zod.run({ value, issues: [] }, ctx) as z.core.ParsePayload;
      values.push(result.value);
      for (const issue of z.core.util.prefixIssues(index, result.issues)) payload.issues.push(issue);
      if (payload.issues.length >= ISSUES_MAX) break;
    }
    payload.value = values;
    return payload;
  };
});

const BoundedValue = z.core.$constructor('BoundedValue', (inst: z.ZodUnknown, def: z.core.$ZodUnknownDef & Size) => {
  z.ZodUnknown.init(inst as never, def as never);
  inst._zod.parse = (payload) => (isWithin(payload.value, def) ? payload : tooBig(payload, inst, 'value', def));
});

const BoundedRecord = z.core.$constructor('BoundedRecord', (inst: z.ZodRecord, def: RecordDef) => {
  z.ZodRecord.init(inst as never, def as never);
  const parse = inst._zod.parse;
  inst._zod.parse = (payload, ctx) => {
    const given = payload.value;
    const isTooBig = typeof given === 'object' && given !== null && Object.keys(given).length > def.most;
    return isTooBig && !Array.isArray(given) ? tooBig(payload, inst, 'record', def) : parse(payload, ctx);
  };
});

/**
 * A list of an input. Its length is checked before any element, and after a hundred issues the rest is skipped, so that
 * a list of a million wrong elements costs as much as a short one. Errors keep the names given by outer checks, which
 * an aborting issue, as of `.max()`, would lose.
 *
 *   list(text(), { max: CODES_MAX })
 */
export const list = <Item extends z.ZodType>(item: Item, { max, wrong = INVALID, tooMany = TOO_LONG }: ListOptions) =>
  new BoundedList({
    type: 'array',
    element: item,
    most: max,
    tooMany,
    ...z.core.util.normalizeParams(wrong),
  } as never) as unknown as z.ZodArray<Item>;

/** An object with names chosen by the client, whose number is checked before any value. */
export const named = <Value extends z.ZodType>(
  value: Value,
  { max, wrong = INVALID, tooMany = TOO_LONG }: RecordOptions,
) =>
  new BoundedRecord({
    type: 'record',
    keyType: z.string(),
    valueType: value,
    most: max,
    tooMany,
    ...z.core.util.normalizeParams(wrong),
  } as never) as unknown as z.ZodRecord<z.ZodString, Value>;

/**
 * A value of any form that special rules read later, with limits on every list, object and text in it. It may be
 * absent, like `z.unknown()`.
 */
export const anyValue = ({ max, textMax = PROSE_MAX, tooMany = TOO_LONG }: ValueOptions) =>
  new BoundedValue({ type: 'unknown', most: max, textMax, tooMany } as never) as unknown as z.ZodUnknown;

function isWithin(value: unknown, size: Size): boolean {
  const { most, textMax = PROSE_MAX } = size;
  if (typeof value === 'string') return value.length <= textMax;
  if (typeof value !== 'object' || value === null) return true;
  if (isKeptNumber(value)) return value.value.length <= textMax;
  if (Array.isArray(value)) return value.length <= most && value.every((each) => isWithin(each, size));
  const names = Object.keys(value);
  if (names.length > most) return false;
  return names.every((name) => name.length <= textMax && isWithin((value as Record<string, unknown>)[name], size));
}
