import { z } from 'zod';
import { isKeptNumber } from '../../../engine/metrics/property-text.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { withoutNullBytes } from '../../../platform/schema/fields.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';

/**
 * Credits have at most 25 digits before the point, and 64 characters as all decimals. Rule: wallets.md#transactions.
 */
const CREDITS = /^\d{1,25}(\.\d{0,38})?$/;

/**
 * Credits as numeric text, ≥ 0; absent or null means none. Anything else is refused with the code of its field.
 * Rule: wallets.md#fields, wallets.md#transactions.
 */
export const creditsInput = (field: 'paid_credits' | 'granted_credits' | 'voided_credits') =>
  anyValue({ max: SCALAR_MAX })
    .optional()
    .transform((value, context): string | null => {
      if (value === undefined || value === null || value === '') return null;
      const text = typeof value === 'number' && Number.isFinite(value) ? decimal(value).toFixed() : value;
      if (typeof text === 'string' && CREDITS.test(text.trim()))
        return decimal(text.trim().replace(/\.$/, '')).toFixed();
      for (const message of [`invalid_${field}`, 'invalid_amount']) context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });

const MOST_PAIRS = 15;
/** How many pairs of metadata a wallet may have, and how many a rule of one. */
export const MOST_PAIRS_OF_WALLET = 5;
/** A longer list is refused without reading it. */
const PAIRS_READ_MAX = 1000;
const KEY_MAX = 20;
const VALUE_MAX = 100;

/** Pairs of a key and a value that a transaction carries. Rule: wallets.md#transactions "metadata". */
export const pairsInput = (most = MOST_PAIRS) =>
  anyValue({ max: PAIRS_READ_MAX, tooMany: 'too_many_keys' })
    .optional()
    .transform((value, context) => {
      const pairs = Array.isArray(value) ? value.map(withoutNullBytes) : (value ?? []);
      const fault = faultOfPairs(pairs, most);
      if (fault === undefined) return pairs as { key: string; value: string }[];
      context.addIssue({ code: 'custom', message: fault });
      return z.NEVER;
    });

/** What is wrong with pairs, as one code. */
export function faultOfPairs(value: unknown, most: number): string | undefined {
  if (!Array.isArray(value)) return 'invalid_type';
  if (value.length > most) return 'too_many_keys';
  return value.map(faultOfPair).find((fault) => fault !== undefined);
}

function faultOfPair(pair: unknown): string | undefined {
  const isPair = typeof pair === 'object' && pair !== null && !Array.isArray(pair);
  if (!isPair || Object.keys(pair).sort().join() !== 'key,value') return 'invalid_key_value_pair';
  const { key, value } = pair as { key: unknown; value: unknown };
  if (typeof value === 'object' && value !== null && !isKeptNumber(value)) return 'nested_structure_not_allowed';
  if (typeof key !== 'string' || key === '' || typeof value !== 'string') return 'invalid_key_value_pair';
  if (!key.isWellFormed() || !value.isWellFormed()) return 'invalid_key_value_pair';
  if (key.length > KEY_MAX) return 'key_too_long';
  return value.length > VALUE_MAX ? 'value_too_long' : undefined;
}

/** 1 pays first, 50 last. */
export const priorityInput = () =>
  anyValue({ max: SCALAR_MAX })
    .optional()
    .transform((value, context) => {
      if (value === undefined || value === null) return undefined;
      const number = typeof value === 'string' && /^\d{1,2}$/.test(value.trim()) ? Number(value) : value;
      if (typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= 50) return number;
      context.addIssue({ code: 'custom', message: 'value_is_invalid' });
      return z.NEVER;
    });

/** How something is to be paid; whether the customer has the method is for the command to check. */
export const paymentMethodInput = () =>
  z
    .object(
      {
        payment_method_type: z.enum(['provider', 'manual'], 'invalid_payment_method').nullish(),
        payment_method_id: z
          .string('invalid_payment_method')
          .max(LINE_MAX, 'invalid_payment_method')
          .transform((id) => id.trim() || null)
          .nullish(),
      },
      'invalid_payment_method',
    )
    .nullish();
