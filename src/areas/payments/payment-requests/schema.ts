import { z } from 'zod';
import { isCurrency } from '../../../engine/money/currency.ts';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { CONTRACT_PROVIDERS } from '../../../platform/payments/contract-providers.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { INVALID, MANDATORY, TOO_LONG, text } from '../../../platform/schema/fields.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';
import { emails } from '../../../platform/schema/typed-text.ts';
import { MethodReference } from '../../customers/payment-methods/schema.ts';

const REQUEST_STATUSES = ['pending', 'succeeded', 'failed'] as const;

/** How many invoices one request may ask for: all are locked and shown together. */
const INVOICES_MAX = 1000;

/** Input of `POST /payment_requests`. Rule: payment-requests.md#payment-requests. */
export const RequestCreate = z.object({
  external_customer_id: text(),
  email: emails(),
  svc_invoice_ids: list(z.string(INVALID).max(LINE_MAX, TOO_LONG), {
    max: INVOICES_MAX,
    wrong: { error: ({ input }) => (input === undefined || input === null ? MANDATORY : INVALID) },
  }),
  payment_method: MethodReference,
});
export type RequestCreate = z.infer<typeof RequestCreate>;

const known = (words: readonly string[]) =>
  textFilter
    .refine((word) => word === undefined || words.includes(word), INVALID)
    .meta({ type: 'string', enum: words });

const filters = {
  ...countedPageQuery,
  payment_status: known(REQUEST_STATUSES),
  currency: textFilter.refine((code) => code === undefined || isCurrency(code), INVALID),
  billing_entity_codes: listFilter,
};
export const CustomerRequestsQuery = z.object(filters);
export type CustomerRequestsQuery = z.infer<typeof CustomerRequestsQuery>;
export const RequestsQuery = z.object({ ...filters, external_customer_id: textFilter });
export type RequestsQuery = z.infer<typeof RequestsQuery>;

export const RequestView = z.object({
  svc_id: z.uuid(),
  email: z.string().nullable(),
  amount_cents: z.int(),
  amount_currency: z.string(),
  payment_status: z.enum(REQUEST_STATUSES),
  dunning_campaign_code: z.string().optional(),
  created_at: z.string(),
  customer: z.looseObject({}),
  invoices: z.array(z.looseObject({})),
});
export const RequestEnvelope = z.object({ payment_request: RequestView });
export const RequestList = z.object({ payment_requests: z.array(RequestView), meta: PageMeta });

export const RequestUrlEnvelope = z.object({
  payment_request_payment_details: z.object({
    svc_payment_request_id: z.uuid(),
    payment_provider: z.enum(CONTRACT_PROVIDERS),
    payment_url: z.string(),
  }),
});
