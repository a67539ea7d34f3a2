import { z } from 'zod';
import { anyValue, list, named } from '../../../../platform/schema/bounded.ts';
import { boolean, INVALID, integer, oneOf } from '../../../../platform/schema/fields.ts';
import { POLICIES } from '../../../catalog/usage-policies/schema.ts';
import { AiSettingsUpdate, AiSettingsView } from './ai-settings.ts';

/** How many days logs may be shown. Rule: other-routes.md#records. */
const LOGS_DAYS_MAX = 400;
/** How many active wallets one customer may have. Rule: other-routes.md#records. */
const WALLETS_MAX = 100;
/** How many properties may be named, and how many categories of limits. */
const WORDS_MAX = 100;
const UNSUPPORTED = 'unsupported_value';

const usagePolicies = z.object({
  corrections: oneOf(POLICIES).nullish(),
  late_events: oneOf(POLICIES).nullish(),
});

/**
 * Input of `PUT /organizations/settings`: what is absent stays. Settings that are not supported yet are refused by
 * name.
 */
export const SettingsUpdate = z
  .object({
    audit_logs_period: integer({ min: 1, max: LOGS_DAYS_MAX }),
    wallet_limit: integer({ min: 1, max: WALLETS_MAX }),
    /** 0 means that its customers have no hosted pages. */
    hosted_page_wait_minutes: z.literal([0, 10], INVALID),
    /** Access checks refuse customers with an overdue invoice. */
    deny_when_overdue: boolean(),
    usage_policies: usagePolicies.nullable(),
    personal_properties: list(anyValue({ max: WORDS_MAX }), { max: WORDS_MAX, wrong: 'must_be_array' }).refine(
      (names) => names.length === 0,
      UNSUPPORTED,
    ),
    rate_limits: named(anyValue({ max: WORDS_MAX }), { max: WORDS_MAX }),
    ai: AiSettingsUpdate,
  })
  .partial();
export type SettingsUpdate = z.infer<typeof SettingsUpdate>;

const Policies = z.object({ corrections: z.enum(POLICIES).nullable(), late_events: z.enum(POLICIES).nullable() });

/** Settings beyond `/organizations`. Rule: other-routes.md#records. */
export const SettingsView = z.object({
  audit_logs_period: z.int(),
  wallet_limit: z.int(),
  hosted_page_wait_minutes: z.int(),
  deny_when_overdue: z.boolean(),
  usage_policies: Policies.nullable(),
  personal_properties: z.array(z.unknown()),
  rate_limits: z.object({
    events: z.int(),
    events_bulk: z.int(),
    current_usage: z.int(),
    access: z.int(),
    budgets: z.int(),
    default: z.int(),
  }),
  ai: AiSettingsView,
});
export type SettingsView = z.infer<typeof SettingsView>;
export const SettingsEnvelope = z.object({ settings: SettingsView });
