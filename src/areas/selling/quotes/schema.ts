import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import {
  ORDER_TYPES,
  QUOTE_VERSION_STATUSES,
  QUOTE_VERSION_VOID_REASONS,
} from '../../../engine/quotes/quote-states.ts';
import { listFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import { oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';

/** Longest content: a document of some hundred pages. */
const CONTENT_MAX = 500_000;
/** How many parts a list of items may have; billing-items/read-items.ts has the limit of each list. */
const PARTS_MAX = 1000;
const MOST_OWNERS = 50;

// Items are read by billing-items/read-items.ts, owners by owners.ts, because their faults depend on more than their
// form.
const authored = {
  billing_items: anyValue({ max: PARTS_MAX }).optional(),
  content: optionalText({ max: CONTENT_MAX }),
  currency: oneOf(CURRENCIES).nullish(),
  billing_entity_code: optionalText(),
};

/** Input of `POST /quotes`. Rule: quotes.md#lifecycle. */
export const QuoteCreate = z.object({
  ...authored,
  external_customer_id: text(),
  order_type: oneOf(ORDER_TYPES),
  external_subscription_id: optionalText(),
  owners: list(anyValue({ max: SCALAR_MAX, textMax: LINE_MAX }), {
    max: MOST_OWNERS,
    tooMany: 'invalid_count',
  }).nullish(),
});
export type QuoteCreate = z.infer<typeof QuoteCreate>;

/** Input of `PUT /quote_versions/{svc_id}`: what is absent stays. */
export const QuoteVersionUpdate = z.object(authored);
export type QuoteVersionUpdate = z.infer<typeof QuoteVersionUpdate>;

/** Whole body of the approval. */
export const QuoteVersionApprove = z.object({ expires_at: instantField().nullish() });
export type QuoteVersionApprove = z.infer<typeof QuoteVersionApprove>;

/** Errors inside an optional root have their own names. */
export const withoutRoot = <Output>() => renameErrors<Output>((path) => (path.length > 1 ? path.slice(1) : path));

export const QuotesQuery = z.object({
  ...countedPageQuery,
  status: wordsFilter(QUOTE_VERSION_STATUSES),
  order_type: wordsFilter(ORDER_TYPES),
  number: listFilter,
  owner_id: listFilter,
  external_customer_id: listFilter,
  from_date: fromFilter,
  to_date: untilFilter,
});
export type QuotesQuery = z.infer<typeof QuotesQuery>;
export const VersionsQuery = z.object(pageQuery);
export type VersionsQuery = z.infer<typeof VersionsQuery>;

const Instant = z.iso.datetime();

export const BillingItemsView = z
  .object({
    addOns: z.array(z.looseObject({})).optional(),
    plans: z.array(z.looseObject({})).optional(),
    coupons: z.array(z.looseObject({})).optional(),
    walletCredits: z.array(z.looseObject({})).optional(),
  })
  .nullable();

const QuoteVersionObject = z.object({
  svc_id: z.uuid(),
  svc_quote_id: z.uuid(),
  svc_organization_id: z.uuid(),
  version: z.int(),
  status: z.enum(QUOTE_VERSION_STATUSES),
  currency: z.enum(CURRENCIES).nullable(),
  billing_entity_code: z.string().nullable(),
  void_reason: z.enum(QUOTE_VERSION_VOID_REASONS).nullable(),
  approved_at: Instant.nullable(),
  voided_at: Instant.nullable(),
  created_at: Instant,
  updated_at: Instant,
});

const QuoteObject = z.object({
  svc_id: z.uuid(),
  number: z.string(),
  order_type: z.enum(ORDER_TYPES),
  svc_customer_id: z.uuid(),
  svc_subscription_id: z.uuid().nullable(),
  svc_organization_id: z.uuid(),
  created_at: Instant,
  updated_at: Instant,
  current_version: QuoteVersionObject.nullable(),
});

export const QuoteEnvelope = z.object({
  quote: QuoteObject.extend({ owners: z.array(z.object({ svc_id: z.uuid(), email: z.string().nullable() })) }),
});
export const QuoteList = z.object({ quotes: z.array(QuoteObject), meta: PageMeta });
export const QuoteVersionEnvelope = z.object({
  quote_version: QuoteVersionObject.extend({ content: z.string().nullable(), billing_items: BillingItemsView }),
});
export const QuoteVersionList = z.object({ quote_versions: z.array(QuoteVersionObject), meta: PageMeta });
