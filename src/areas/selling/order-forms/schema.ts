import { z } from 'zod';
import { ORDER_FORM_STATUSES } from '../../../engine/quotes/quote-states.ts';
import { listFilter, textFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { oneOf } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { EXECUTION_MODES } from '../orders/schema.ts';
import { withoutRoot } from '../quotes/schema.ts';
import { isTooLarge, SIGN_BODY_LIMIT_BYTES } from './signed-document.ts';

/** Body of `POST /order_forms/{svc_id}/mark_as_signed`; every field is optional. Rule: quotes.md#routes. */
export const OrderFormSign = z
  .object({
    order_form: z
      .object({
        signed_document: z
          .string('invalid_format')
          .max(SIGN_BODY_LIMIT_BYTES)
          .refine((uri) => !isTooLarge(uri), 'file_too_large')
          .nullish(),
        execution_mode: oneOf(EXECUTION_MODES).nullish(),
        execute_at: instantField().nullish(),
      })
      .nullish(),
  })
  .check(withoutRoot());
export type OrderFormSign = z.infer<typeof OrderFormSign>;

export const OrderFormsQuery = z.object({
  ...pageQuery,
  search_term: textFilter,
  status: wordsFilter(ORDER_FORM_STATUSES),
  customer_id: listFilter,
  number: listFilter,
  quote_number: listFilter,
  owner_id: listFilter,
  created_at_from: fromFilter,
  created_at_to: untilFilter,
  expires_at_from: fromFilter,
  expires_at_to: untilFilter,
});
export type OrderFormsQuery = z.infer<typeof OrderFormsQuery>;

const Instant = z.iso.datetime();
const OrderFormObject = z.object({
  svc_id: z.uuid(),
  number: z.string(),
  status: z.enum(ORDER_FORM_STATUSES),
  void_reason: z.enum(['manual', 'expired', 'invalid']).nullable(),
  expires_at: Instant.nullable(),
  signed_at: Instant.nullable(),
  voided_at: Instant.nullable(),
  signed_document_url: z.string().nullable(),
  svc_organization_id: z.uuid(),
  svc_customer_id: z.uuid(),
  svc_quote_id: z.uuid(),
  svc_quote_version_id: z.uuid(),
  created_at: Instant,
  updated_at: Instant,
});
export const OrderFormEnvelope = z.object({ order_form: OrderFormObject });
export const OrderFormList = z.object({ order_forms: z.array(OrderFormObject), meta: PageMeta });
