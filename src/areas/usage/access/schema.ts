import { z } from 'zod';
import { decimal } from '../../../engine/money/decimal.ts';
import { booleanFilter } from '../../../platform/lists/filters.ts';
import {
  decimalInput,
  INVALID,
  integer,
  OUT_OF_RANGE,
  optionalText,
  TOO_LONG,
  text,
} from '../../../platform/schema/fields.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';
import { DecidedBudget, DecisionInput } from '../budget-holds/schema.ts';

export const isFilled = (value: unknown): boolean => value !== undefined && value !== null;

/** Life of a hold without an explicit one. Rule: wallet-holds.md. */
const HOLD_SECONDS = 300;
const REFERENCE_MAX = 255;

/** How long an amount is held, and the caller's own reference; a setting limits the life. */
export const HoldTerms = z.object({
  expires_in_seconds: z.preprocess((value) => value ?? HOLD_SECONDS, integer({ min: 1 })),
  reference: optionalText({ max: REFERENCE_MAX }),
});

/** What budgets are asked, as in a decision. */
const BudgetQuestion = DecisionInput.pick({
  code: true,
  properties: true,
  amount: true,
  units: true,
  tokens: true,
  estimate: true,
  allow_partial: true,
});

/** Input of `POST /access/check`. Rule: access-check.md. */
export const AccessCheck = z
  .object({
    external_subscription_id: text(),
    feature_code: optionalText(),
    privilege_code: optionalText(),
    value: z.union([z.number(), z.boolean(), z.string().max(LINE_MAX, TOO_LONG)], INVALID).nullish(),
    units: z.preprocess(
      (units) => units ?? '1',
      decimalInput().refine((units) => decimal(units).gte(0), OUT_OF_RANGE),
    ),
    wallet_code: optionalText(),
    amount_cents: integer({ min: 0 }).nullish(),
    hold: HoldTerms.nullish(),
    budget: BudgetQuestion.nullish(),
  })
  .refine(({ privilege_code, feature_code }) => !privilege_code || feature_code, {
    message: 'value_is_mandatory',
    path: ['feature_code'],
  })
  .refine(({ value, privilege_code }) => !isFilled(value) || privilege_code, {
    message: 'value_is_mandatory',
    path: ['privilege_code'],
  })
  .refine(({ hold, amount_cents }) => !isFilled(hold) || (amount_cents ?? 0) > 0, {
    message: 'value_is_mandatory',
    path: ['amount_cents'],
  });
export type AccessCheck = z.infer<typeof AccessCheck>;

/** `exact` asks Postgres instead of a counter. */
export const AccessQuery = z.object({ exact: booleanFilter });
export type AccessQuery = z.infer<typeof AccessQuery>;

const Units = z.string();

export const AccessEnvelope = z.object({
  access: z.object({
    allowed: z.boolean(),
    reasons: z.array(z.string()),
    entitlement: z
      .object({
        feature_code: z.string(),
        granted: z.boolean(),
        privileges: z.record(z.string(), z.union([z.int(), z.boolean(), z.string()])),
      })
      .nullable(),
    usage: z
      .array(
        z.object({
          billable_metric_code: z.string(),
          period: z.string(),
          limit: Units,
          used: Units,
          requested: Units,
          remaining: Units,
          resets_at: z.iso.datetime().nullable(),
        }),
      )
      .nullable(),
    wallet: z
      .object({
        wallet_code: z.string().nullable(),
        currency: z.string(),
        balance_cents: z.int(),
        ongoing_balance_cents: z.int(),
        held_cents: z.int(),
        available_cents: z.int(),
        requested_cents: z.int(),
      })
      .nullable(),
    budgets: z.array(DecidedBudget).optional(),
    svc_hold_id: z.uuid().nullable(),
    source: z.enum(['counter', 'database']),
    as_of: z.iso.datetime(),
  }),
});
export type AccessView = z.infer<typeof AccessEnvelope>['access'];
