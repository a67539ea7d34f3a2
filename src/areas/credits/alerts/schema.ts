import { z } from 'zod';
import { SUBSCRIPTION_ALERT_TYPES, WALLET_ALERT_TYPES } from '../../../engine/alerts/alert-types.ts';
import { SUBSCRIPTION_STATUSES } from '../../../engine/subscriptions/subscription-states.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { anyValue, list, named } from '../../../platform/schema/bounded.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';

/** How many alerts one request may create: as many as a subscription may have. */
const ALERTS_MAX = 100;
/** An alert has at most 20 thresholds, which the command checks; the schema accepts a few more for that. */
const PARTS_MAX = 200;

const AlertInput = named(anyValue({ max: PARTS_MAX, textMax: PROSE_MAX }), { max: PARTS_MAX });

/**
 * An alert as it was sent: what is wrong with it is reported in the order of alerts.md#endpoints-and-fields, see
 * definition.ts.
 */
export type GivenAlert = Record<string, unknown>;

const isRecord = (value: unknown): value is GivenAlert =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const contentOf = (body: unknown): unknown => {
  const given = isRecord(body) ? body : {};
  if (Array.isArray(given.alerts)) return { alerts: given.alerts };
  if (isRecord(given.alert) && Object.keys(given.alert).length > 0) return { alert: given.alert };
  throw refuse.missingRoot('alert');
};

/** One alert, or several under `alerts`. A missing or empty root is 400. */
export const AlertCreateBody = z.preprocess(
  contentOf,
  z.object({
    alert: AlertInput.optional(),
    alerts: list(anyValue({ max: PARTS_MAX, textMax: PROSE_MAX }), { max: ALERTS_MAX }).optional(),
  }),
);
export type AlertCreateBody = { alert: GivenAlert } | { alerts: unknown[] };

export const AlertUpdate = AlertInput;

const AlertThresholdInput = z.object({
  code: z.string().nullish(),
  value: z.union([z.number(), z.string()]),
  recurring: z.boolean().optional(),
});
const alertInput = {
  code: z.string(),
  name: z.string().nullish(),
  billable_metric_code: z.string().nullish(),
  thresholds: z.array(AlertThresholdInput),
};
const createDocumented = (types: readonly [string, ...string[]]) => {
  const input = z.object({ alert_type: z.enum(types), ...alertInput });
  return z.union([z.object({ alert: input }), z.object({ alerts: z.array(input) })]);
};
export const SubscriptionAlertCreateDocumented = createDocumented(SUBSCRIPTION_ALERT_TYPES);
export const WalletAlertCreateDocumented = createDocumented(WALLET_ALERT_TYPES);
export const AlertUpdateDocumented = z.object({ alert: z.object(alertInput).partial() });

const AlertObject = z.object({
  svc_id: z.uuid(),
  svc_organization_id: z.uuid(),
  subscription_external_id: z.string().nullable(),
  external_subscription_id: z.string().nullable(),
  svc_wallet_id: z.uuid().nullable(),
  wallet_code: z.string().nullable(),
  alert_type: z.string(),
  code: z.string(),
  name: z.string().nullable(),
  direction: z.enum(['increasing', 'decreasing']),
  previous_value: z.number(),
  last_processed_at: z.iso.datetime().nullable(),
  thresholds: z.array(z.object({ code: z.string().nullable(), value: z.string(), recurring: z.boolean() })),
  created_at: z.iso.datetime(),
  billable_metric: z.looseObject({}).nullable(),
});

export const AlertEnvelope = z.object({ alert: AlertObject });
export const AlertList = z.object({ alerts: z.array(AlertObject), meta: PageMeta });
export const AlertOrAlerts = z.union([AlertEnvelope, AlertList]);
export const AlertListQuery = z.object(pageQuery);

/**
 * Alerts belong to the external id, so those of every status are the same ones: the contract's parameter selects
 * nothing.
 */
const subscriptionStatus = {
  subscription_status: textFilter.meta({ type: 'string', enum: SUBSCRIPTION_STATUSES }),
};
export const SubscriptionAlertQuery = z.object(subscriptionStatus);
export const SubscriptionAlertListQuery = z.object({ ...subscriptionStatus, ...pageQuery });
