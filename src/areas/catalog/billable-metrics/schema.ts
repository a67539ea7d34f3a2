import { z } from 'zod';
import { AGGREGATION_TYPES } from '../../../engine/metrics/aggregation-types.ts';
import { ROUNDING_FUNCTIONS } from '../../../engine/metrics/round-units.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue, list, named } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import {
  boolean,
  INVALID,
  integer,
  MANDATORY,
  oneOf,
  oneOfOffered,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { DECIMAL_MAX, LINE_MAX, PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { resettable } from '../../../platform/schema/typed-text.ts';
import { unitCode } from '../unit-code.ts';

/** Longest code and filter key: indexes of the database hold them. */
const CODE_MAX = 255;
/** How many filters a metric may have, and how many values each: models, regions, customers' own plans. */
const FILTERS_MAX = 100;
const FILTER_VALUES_MAX = 5000;
/** How many digits rounding of units may keep or drop: as many as decimals are exact to. */
const MAX_ROUNDING_PRECISION = 60;
/** How many characters an expression may have, because it is evaluated for every event. */
const MAX_EXPRESSION_LENGTH = 4000;

const Filter = z.object({
  key: text({ max: CODE_MAX }),
  values: list(text(), {
    max: FILTER_VALUES_MAX,
    wrong: { error: (issue) => (issue.input === undefined || issue.input === null ? MANDATORY : INVALID) },
  }).min(1, MANDATORY),
});

const fields = {
  name: text(),
  code: text({ max: CODE_MAX }),
  description: optionalText({ max: PROSE_MAX }),
  aggregation_type: oneOfOffered(AGGREGATION_TYPES, ['custom_agg']),
  recurring: resettable(boolean(), false),
  field_name: optionalText(),
  unit_code: unitCode(),
  weighted_interval: oneOf(['seconds']).nullish(),
  rounding_function: oneOf(ROUNDING_FUNCTIONS).nullish(),
  rounding_precision: integer({ min: -MAX_ROUNDING_PRECISION, max: MAX_ROUNDING_PRECISION }).nullish(),
  expression: optionalText({ max: MAX_EXPRESSION_LENGTH }),
  filters: list(Filter, { max: FILTERS_MAX }).nullish(),
};

/** Input of `POST /billable_metrics`. Rule: billable-metrics.md#fields. */
export const BillableMetricCreate = z.object(fields).check(elementErrors('filters'));
export type BillableMetricCreate = z.infer<typeof BillableMetricCreate>;

/** Input of `PUT /billable_metrics/{code}`: what is absent stays. */
export const BillableMetricUpdate = z.object(fields).partial().check(elementErrors('filters'));
export type BillableMetricUpdate = z.infer<typeof BillableMetricUpdate>;

export const BillableMetricListQuery = z.object({ ...countedPageQuery, search_term: textFilter });
export type BillableMetricListQuery = z.infer<typeof BillableMetricListQuery>;

/** What is tried has the properties of an event. */
const PROPERTIES = { max: 1000, tooMany: 'invalid_event' };

const INVALID_EVENT = { error: () => 'invalid_event' };

/** Unix seconds, as a number or as its text. */
const EventTime = z
  .union(
    [
      z.number(),
      z
        .string()
        .max(DECIMAL_MAX, 'invalid_event')
        .regex(/^ *\d{1,15}(\.\d+)? *$/, 'invalid_event'),
    ],
    INVALID_EVENT,
  )
  .transform((value) => Math.floor(Number(value)));

/** Input of `POST /billable_metrics/evaluate_expression`. Rule: billable-metrics.md#expressions. */
export const ExpressionEvaluation = z
  .object({
    expression: text({ max: MAX_EXPRESSION_LENGTH }),
    event: z.object(
      {
        code: z.string(INVALID_EVENT).max(LINE_MAX, INVALID_EVENT).nullish(),
        timestamp: EventTime.nullish(),
        properties: named(anyValue(PROPERTIES), { ...PROPERTIES, wrong: INVALID_EVENT }).nullish(),
      },
      INVALID_EVENT,
    ),
  })
  .check(renameErrors((path) => path.slice(0, 1)));
export type ExpressionEvaluation = z.infer<typeof ExpressionEvaluation>;

export const ExpressionResult = z.object({ expression_result: z.object({ value: z.string() }) });
