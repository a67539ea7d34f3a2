import { z } from 'zod';
import { HOLD_STATUSES } from '../../../engine/credits/wallet-hold.ts';
import { listFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue, named } from '../../../platform/schema/bounded.ts';
import { boolean, INVALID, integer, optionalText } from '../../../platform/schema/fields.ts';
import { HoldTerms } from '../../usage/access/schema.ts';

const REFERENCE_MAX = 255;
/** How many properties an event may have, and how many characters the value of one. */
const PROPERTIES_MAX = 1000;
const VALUE_MAX = 1024 * 1024;
const amount = () => integer({ min: 1 });
// The longest life is a setting, which the command compares.
const seconds = () => integer({ min: 1 });

/** Input of `POST /wallets/{svc_id}/holds`. */
export const HoldCreate = HoldTerms.extend({
  amount_cents: amount(),
  external_subscription_id: optionalText(),
  allow_partial: boolean().nullish(),
});
export type HoldCreate = z.infer<typeof HoldCreate>;

/** Input of `PUT /wallets/{svc_id}/holds/{hold_id}`. */
export const HoldUpdate = z.object({
  amount_cents: amount().optional(),
  expires_in_seconds: seconds().optional(),
  reference: optionalText({ max: REFERENCE_MAX }),
  external_subscription_id: optionalText(),
});
export type HoldUpdate = z.infer<typeof HoldUpdate>;

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Input of `POST …/settle`: an event, or what was used; not both. */
export const HoldSettle = z
  .object({
    event: named(anyValue({ max: PROPERTIES_MAX, textMax: VALUE_MAX }), { max: PROPERTIES_MAX }).nullish(),
    amount_cents: integer({ min: 0 }).nullish(),
  })
  .refine(({ event, amount_cents }) => isRecord(event) || typeof amount_cents === 'number', {
    message: 'value_is_mandatory',
    path: ['amount_cents'],
  })
  .refine(({ event, amount_cents }) => !isRecord(event) || typeof amount_cents !== 'number', {
    message: 'value_must_be_blank',
    path: ['amount_cents'],
  });
export type HoldSettle = z.infer<typeof HoldSettle>;

export const HoldView = z.object({
  svc_id: z.uuid(),
  svc_wallet_id: z.uuid(),
  status: z.enum(HOLD_STATUSES),
  amount_cents: z.int(),
  settled_amount_cents: z.int().nullable(),
  currency: z.string(),
  reference: z.string().nullable(),
  external_subscription_id: z.string().nullable(),
  event_transaction_id: z.string().nullable(),
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
