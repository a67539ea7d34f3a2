import { z } from 'zod';
import { VALUE_TYPES } from '../../../engine/entitlements/privilege-value.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import { INVALID, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';

/** How many characters codes and names may have, and how many a description. Rule: entitlements.md#records. */
const NAME_MAX = 255;
const DESCRIPTION_MAX = 600;

/** How many privileges a feature may have, and how many options one that is chosen from a list. */
const PRIVILEGES_MAX = 100;
const OPTIONS_MAX = 500;

/** Periods of a usage limit: the charges window, a day or month in the customer's zone, or the whole lifetime. */
export const PERIODS = ['billing_period', 'day', 'month', 'lifetime'] as const;
export type Period = (typeof PERIODS)[number];

const code = () => text({ max: NAME_MAX }).transform((value) => value.trim());

const PrivilegeInput = z.object({
  code: code(),
  name: optionalText({ max: NAME_MAX }),
  value_type: oneOf(VALUE_TYPES).nullish(),
  // Whether a value fits can be checked once the type is known.
  config: anyValue({ max: OPTIONS_MAX, textMax: NAME_MAX }).optional(),
});
export type PrivilegeInput = z.infer<typeof PrivilegeInput>;

const fields = {
  name: optionalText({ max: NAME_MAX }),
  description: optionalText({ max: DESCRIPTION_MAX }),
  privileges: list(PrivilegeInput, { max: PRIVILEGES_MAX }).nullish(),
};

// What is wrong with a privilege stands under `privilege.` (error-bodies.md#codes-by-field).
const privilegeErrors = <Output>() =>
  renameErrors<Output>((path) =>
    path[0] === 'privileges' && path.length > 1 ? ['privilege', ...path.slice(2)] : path,
  );

/** Input of `POST /features`. Rule: entitlements.md#records. */
export const FeatureCreate = z.object({ code: code(), ...fields }).check(privilegeErrors());
export type FeatureCreate = z.infer<typeof FeatureCreate>;

/** Input of `PUT /features/{code}`: what is absent stays. Rule: entitlements.md#routes. */
export const FeatureUpdate = z.object({ code: code().optional(), ...fields }).check(privilegeErrors());
export type FeatureUpdate = z.infer<typeof FeatureUpdate>;

const UsageLimitInput = z.object({
  privilege_code: text(),
  billable_metric_code: text(),
  period: oneOf(PERIODS),
});
export type UsageLimitInput = z.infer<typeof UsageLimitInput>;

/** Input of `PUT /features/{code}/usage_limits`: the whole list. Rule: entitlements.md#usage-limits. */
export const UsageLimits = z
  .preprocess(
    (body) => (body as { usage_limits?: unknown }).usage_limits,
    list(UsageLimitInput, {
      max: PRIVILEGES_MAX,
      wrong: { error: ({ input }) => (input === undefined ? 'value_is_mandatory' : INVALID) },
    }),
  )
  .check(renameErrors((path) => (path.length < 2 ? ['usage_limits'] : path.slice(1))));
export const UsageLimitsDocumented = z.object({ usage_limits: list(UsageLimitInput, { max: PRIVILEGES_MAX }) });

export const FeaturesQuery = z.object({ search_term: textFilter, ...pageQuery });
export type FeaturesQuery = z.infer<typeof FeaturesQuery>;
