import { z } from 'zod';
import { BUDGET_MODES, BUDGET_PERIODS, BUDGET_SCOPES, MEASURES } from '../../../engine/budgets/budget.ts';
import { WINDOW_STATES } from '../../../engine/budgets/window-state.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { listFilter, metadataFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { list, named } from '../../../platform/schema/bounded.ts';
import {
  decimalInput,
  INVALID,
  integer,
  OUT_OF_RANGE,
  oneOf,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { timeZone } from '../../../platform/schema/typed-text.ts';

/** Sizes of budgets.md#definition. */
const CODE_MAX = 255;
const CODES_MAX = 20;
const MATCH_MAX = 4;
const GROUP_KEYS_MAX = 3;
const OVERRIDES_MAX = 1000;
const PERCENTS_MAX = 10;
const REASON_MAX = 255;
const SCOPES = ['closed', 'open'] as const;
const PRICES = ['deny', 'allow'] as const;

const positive = () => decimalInput().refine((value) => decimal(value).gt(0), OUT_OF_RANGE);
const key = () => text({ max: CODE_MAX });
const groupValue = () => optionalText({ max: CODE_MAX }).transform((value) => value ?? null);
const percents = () => list(integer({ min: 1, max: 1000 }), { max: PERCENTS_MAX });
const overrides = () =>
  list(z.object({ values: list(groupValue(), { max: GROUP_KEYS_MAX }), limit: positive() }), { max: OVERRIDES_MAX });

const changing = {
  name: text(),
  limit: positive(),
  overrides: overrides(),
  mode: oneOf(BUDGET_MODES),
  alert_percents: percents(),
  on_outage: oneOf(SCOPES),
  offline_allowance: decimalInput().refine((value) => decimal(value).gte(0), OUT_OF_RANGE),
  unknown_price: oneOf(PRICES),
};

const frozen = {
  scope: oneOf(BUDGET_SCOPES),
  external_customer_id: optionalText(),
  external_subscription_id: optionalText(),
  codes: list(key(), { max: CODES_MAX }).nullish(),
  feature_code: optionalText({ max: CODE_MAX }),
  match: named(text({ max: CODE_MAX }), { max: MATCH_MAX }).nullish(),
  group_by: list(key(), { max: GROUP_KEYS_MAX }).nullish(),
  measure: oneOf(MEASURES),
  billable_metric_code: optionalText({ max: CODE_MAX }),
  currency: optionalText(),
  period: oneOf(BUDGET_PERIODS),
  timezone: timeZone().nullish(),
};

/** Input of `POST /budgets`. Rule: budgets.md#definition. */
export const BudgetCreate = z.object({
  code: text({ max: CODE_MAX }),
  ...frozen,
  ...changing,
  overrides: overrides().nullish(),
  mode: oneOf(BUDGET_MODES)
    .nullish()
    .transform((mode) => mode ?? 'hard'),
  alert_percents: percents().nullish(),
  on_outage: oneOf(SCOPES).nullish(),
  offline_allowance: changing.offline_allowance.nullish(),
  unknown_price: oneOf(PRICES).nullish(),
});
export type BudgetCreate = z.infer<typeof BudgetCreate>;

/** Input of `PUT /budgets/{code}`: what is absent stays; what is frozen may be sent again but not changed. */
export const BudgetUpdate = z.object({ code: text({ max: CODE_MAX }), ...frozen, ...changing }).partial();
export type BudgetUpdate = z.infer<typeof BudgetUpdate>;

/** Values of `group_by` by their keys. */
const Group = z.record(z.string(), z.string().nullable());
const groupInput = () => named(groupValue(), { max: GROUP_KEYS_MAX }).nullish();

export const TopUp = z.object({ amount: positive(), group: groupInput(), reason: text({ max: REASON_MAX }) });
export type TopUp = z.infer<typeof TopUp>;
export const Reset = z.object({ group: groupInput(), reason: text({ max: REASON_MAX }) });
export type Reset = z.infer<typeof Reset>;

export const WindowView = z.object({
  svc_id: z.uuid(),
  group: Group,
  from: z.iso.datetime(),
  to: z.iso.datetime().nullable(),
  limit: z.string(),
  topped_up: z.string(),
  spent: z.string(),
  held: z.string(),
  remaining: z.string(),
  overrun: z.string(),
  state: z.enum(WINDOW_STATES),
  decision_no: z.int(),
});
export type WindowView = z.infer<typeof WindowView>;
export const WindowEnvelope = z.object({ window: WindowView });
export const WindowList = z.object({ windows: z.array(WindowView), meta: PageMeta });

export const EntryView = z.object({
  svc_id: z.uuid(),
  svc_window_id: z.uuid(),
  amount: z.string(),
  events: z.int(),
  source: z.enum(['settlement', 'usage', 'correction', 'provisional', 'reset', 'opening']),
  svc_hold_id: z.uuid().nullable(),
  event_transaction_id: z.string().nullable(),
  created_at: z.iso.datetime(),
});
export const EntryList = z.object({ entries: z.array(EntryView), meta: PageMeta });

export const BudgetsQuery = z.object({ search_term: textFilter, ...pageQuery });
export type BudgetsQuery = z.infer<typeof BudgetsQuery>;

export const WindowsQuery = z.object({
  state: listFilter.pipe(z.array(z.enum(WINDOW_STATES, INVALID)).optional()),
  group: metadataFilter,
  at: fromFilter,
  ...pageQuery,
});
export type WindowsQuery = z.infer<typeof WindowsQuery>;
export const EntriesQuery = z.object({ from: fromFilter, to: untilFilter, ...pageQuery });
export type EntriesQuery = z.infer<typeof EntriesQuery>;
