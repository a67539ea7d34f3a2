import { z } from 'zod';
import { MEASURES } from '../../../engine/budgets/budget.ts';
import { WINDOW_STATES } from '../../../engine/budgets/window-state.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { listFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue, list, named } from '../../../platform/schema/bounded.ts';
import {
  boolean,
  decimalInput,
  INVALID,
  integer,
  OUT_OF_RANGE,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { Estimate } from './estimate.ts';

const KEY_MAX = 255;
/** How many properties a question may have; of an event that settles, as of any other. */
const PROPERTIES_MAX = 100;
const EVENT_PROPERTIES_MAX = 1000;
const VALUE_MAX = 1024 * 1024;
const USAGE_FIELDS_MAX = 100;
const SETTLEMENTS_MAX = 20;
/** Life of a hold without an explicit one. */
const HOLD_SECONDS = 300;
/** Beyond it a figure is an error of the caller; and with how many fractional digits. */
const FIGURE_MAX = 1e15;
const FRACTION_MAX = 18;

const isFigure = (value: string): boolean => {
  const figure = decimal(value);
  return figure.gte(0) && figure.lte(FIGURE_MAX) && figure.decimalPlaces() <= FRACTION_MAX;
};
/** A figure in plain notation. */
const figure = () =>
  decimalInput()
    .refine(isFigure, OUT_OF_RANGE)
    .transform((value) => decimal(value).toFixed());

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Usage of a model as a provider reported it; its fields are checked where it is read. */
const USAGE_VALUES_MAX = 10_000;
const usage = named(anyValue({ max: USAGE_VALUES_MAX, textMax: VALUE_MAX }), { max: USAGE_FIELDS_MAX });

const settlement = {
  event: named(anyValue({ max: EVENT_PROPERTIES_MAX, textMax: VALUE_MAX }), { max: EVENT_PROPERTIES_MAX }).nullish(),
  usage: usage.nullish(),
  amount: figure().nullish(),
};
interface Settled {
  event?: Record<string, unknown> | null | undefined;
  usage?: Record<string, unknown> | null | undefined;
  amount?: string | null | undefined;
}
const waysOf = ({ event, usage, amount }: Settled): number =>
  [isRecord(event), isRecord(usage), typeof amount === 'string'].filter(Boolean).length;
const hasOne = (settled: Settled): boolean => waysOf(settled) > 0;
const hasNotBoth = (settled: Settled): boolean => waysOf(settled) < 2;
const NEITHER = { message: 'value_is_mandatory', path: ['amount'] };
const BOTH = { message: 'value_must_be_blank', path: ['amount'] };

/** Input of `POST /budget_holds/{svc_id}/settle`: an event, usage of a model, or an amount; only one of them. */
export const HoldSettle = z.object(settlement).refine(hasOne, NEITHER).refine(hasNotBoth, BOTH);
export type HoldSettle = z.infer<typeof HoldSettle>;

const Settlement = z
  .object({ hold_key: text({ max: KEY_MAX }), ...settlement })
  .refine(hasOne, NEITHER)
  .refine(hasNotBoth, BOTH);
export type Settlement = z.infer<typeof Settlement>;

/** Input of `POST /budget_decisions`. Rule: budgets.md#decisions. */
export const DecisionInput = z.object({
  hold_key: optionalText({ max: KEY_MAX }).transform((key) => (key?.trim() ? key : null)),
  external_subscription_id: text({ max: KEY_MAX }),
  code: optionalText({ max: KEY_MAX }).transform((code) => (code?.trim() ? code : null)),
  properties: named(anyValue({ max: PROPERTIES_MAX }), { max: PROPERTIES_MAX }).nullish(),
  amount: figure().nullish(),
  units: figure().nullish(),
  tokens: figure().nullish(),
  estimate: Estimate.nullish(),
  allow_partial: boolean().nullish(),
  expires_in_seconds: integer({ min: 1 })
    .nullish()
    .transform((seconds) => seconds ?? HOLD_SECONDS),
  settle: list(Settlement, { max: SETTLEMENTS_MAX }).nullish(),
});
export type DecisionInput = z.infer<typeof DecisionInput>;

/** Input of `PUT /budget_holds/{svc_id}`. */
export const HoldUpdate = z.object({ expires_in_seconds: integer({ min: 1 }).optional(), amount: figure().optional() });
export type HoldUpdate = z.infer<typeof HoldUpdate>;

const figures = {
  code: z.string(),
  group: z.record(z.string(), z.string().nullable()),
  measure: z.enum(MEASURES),
  currency: z.string().nullable(),
  from: z.iso.datetime(),
  to: z.iso.datetime().nullable(),
};

export const DecidedBudget = z.object({
  ...figures,
  limit: z.string(),
  spent: z.string(),
  held: z.string(),
  requested: z.string(),
  remaining: z.string(),
  state: z.enum(WINDOW_STATES),
  decision_no: z.int(),
});
export type DecidedBudget = z.infer<typeof DecidedBudget>;

const HOLD_STATUSES = ['open', 'settled', 'released', 'expired'] as const;
export type HoldStatus = (typeof HOLD_STATUSES)[number];

const SettledHold = z.object({
  hold_key: z.string(),
  status: z.enum(HOLD_STATUSES).nullable(),
  late: z.boolean(),
  overrun: z.string(),
  event: z.object({ transaction_id: z.string(), replayed: z.boolean() }).optional(),
  error_details: z.record(z.string(), z.unknown()).optional(),
});
export type SettledHold = z.infer<typeof SettledHold>;

export const DecisionEnvelope = z.object({
  decision: z.object({
    allowed: z.boolean(),
    reasons: z.array(z.string()),
    exceeded: z.array(z.string()),
    svc_hold_id: z.uuid().nullable(),
    hold_key: z.string().nullable(),
    expires_at: z.iso.datetime().nullable(),
    budgets: z.array(DecidedBudget),
    settled: z.array(SettledHold),
    outage: z.object({ mode: z.enum(['closed', 'open']), allowance: z.string() }),
    as_of: z.iso.datetime(),
  }),
});
export type DecisionView = z.infer<typeof DecisionEnvelope>['decision'];

export const HoldView = z.object({
  svc_id: z.uuid(),
  hold_key: z.string(),
  status: z.enum(HOLD_STATUSES),
  external_subscription_id: z.string(),
  late: z.boolean(),
  event_transaction_id: z.string().nullable(),
  budgets: z.array(z.object({ ...figures, held: z.string(), settled: z.string().nullable() })),
  expires_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  closed_at: z.iso.datetime().nullable(),
});
export type HoldView = z.infer<typeof HoldView>;
export const HoldEnvelope = z.object({ hold: HoldView });
export const HoldList = z.object({ holds: z.array(HoldView), meta: PageMeta });
export const HoldsQuery = z.object({
  statuses: listFilter.pipe(z.array(z.enum(HOLD_STATUSES, INVALID)).optional()),
  ...pageQuery,
});
export type HoldsQuery = z.infer<typeof HoldsQuery>;
