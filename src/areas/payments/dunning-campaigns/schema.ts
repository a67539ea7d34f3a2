import { z } from 'zod';
import { isCurrency } from '../../../engine/money/currency.ts';
import { booleanFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import { boolean, INVALID, integer, MANDATORY, optionalText, TOO_LONG, text } from '../../../platform/schema/fields.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';

const CODE_MAX = 255;
const DESCRIPTION_MAX = 600;
const BCC_MAX = 10;
const NUMBER_MAX = 100_000;
/** How many thresholds a campaign may have: one for each currency. */
const THRESHOLDS_MAX = 200;
const EMAIL = /^[^@\s,]+@[^@\s,]+\.[^@\s,]+$/;

const Threshold = z.object({
  svc_id: z.string(INVALID).max(LINE_MAX, TOO_LONG).nullish(),
  amount_cents: integer({ min: 0 }),
  currency: z
    .string({ error: () => INVALID })
    .max(LINE_MAX, INVALID)
    .refine(isCurrency, INVALID),
});

const Thresholds = list(Threshold, {
  max: THRESHOLDS_MAX,
  wrong: { error: ({ input }) => (input === undefined || input === null ? MANDATORY : INVALID) },
})
  .min(1, MANDATORY)
  .superRefine((items, context) => {
    const seen = new Set<string>();
    for (const [index, { currency }] of items.entries()) {
      if (seen.has(currency))
        context.addIssue({ code: 'custom', message: 'value_already_exist', path: [index, 'currency'] });
      seen.add(currency);
    }
  });

const fields = {
  code: text({ max: CODE_MAX }),
  name: text({ max: CODE_MAX }),
  description: optionalText({ max: DESCRIPTION_MAX }),
  days_between_attempts: integer({ min: 1, max: NUMBER_MAX }).optional(),
  max_attempts: integer({ min: 1, max: NUMBER_MAX }).optional(),
  bcc_emails: list(z.string(INVALID).max(LINE_MAX, TOO_LONG).regex(EMAIL, 'invalid_email_format'), {
    max: BCC_MAX,
  }).optional(),
};

/** Input of `POST /dunning_campaigns`. Rule: payment-requests.md#dunning-campaigns. */
export const CampaignCreate = z
  .object({
    ...fields,
    thresholds: Thresholds,
    applied_to_organization: z.preprocess(
      (value) => value,
      boolean().refine((flag) => typeof flag === 'boolean', MANDATORY),
    ),
  })
  .check(elementErrors('thresholds'));
export type CampaignCreate = z.infer<typeof CampaignCreate>;

/** Input of `PUT /dunning_campaigns/{code}`: what is absent stays, thresholds are replaced as a whole. */
export const CampaignUpdate = z
  .object({ ...fields, thresholds: Thresholds, applied_to_organization: boolean() })
  .partial()
  .check(elementErrors('thresholds'));
export type CampaignUpdate = z.infer<typeof CampaignUpdate>;

export const CampaignsQuery = z.object({
  ...pageQuery,
  search_term: textFilter,
  applied_to_organization: booleanFilter,
});
export type CampaignsQuery = z.infer<typeof CampaignsQuery>;

export const CampaignView = z.object({
  svc_id: z.uuid(),
  code: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  days_between_attempts: z.int(),
  max_attempts: z.int(),
  bcc_emails: z.array(z.string()),
  thresholds: z.array(z.object({ svc_id: z.uuid(), amount_cents: z.int(), currency: z.string() })),
  applied_to_organization: z.boolean(),
  customers_count: z.int(),
  billing_entity_codes: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type CampaignView = z.infer<typeof CampaignView>;
export const CampaignEnvelope = z.object({ dunning_campaign: CampaignView });
export const CampaignList = z.object({ dunning_campaigns: z.array(CampaignView), meta: PageMeta });

export const DunningEnvelope = z.object({
  dunning: z.object({
    campaign_code: z.string().nullable(),
    source: z.enum(['customer', 'billing_entity']).nullable(),
    excluded: z.boolean(),
    last_attempt_at: z.string().nullable(),
    next_attempt_after: z.string().nullable(),
    currencies: z.array(
      z.object({
        currency: z.string(),
        overdue_cents: z.int(),
        threshold_cents: z.int(),
        attempts: z.int(),
        max_attempts: z.int(),
      }),
    ),
  }),
});
