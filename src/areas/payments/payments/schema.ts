import { z } from 'zod';
import { listFilter, textFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { CONTRACT_PROVIDERS } from '../../../platform/payments/contract-providers.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { MANDATORY, TOO_LONG } from '../../../platform/schema/fields.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { MethodReference } from '../../customers/payment-methods/schema.ts';
import { PAYMENT_STATUSES } from './payment-statuses.ts';

const asCents = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value;

const word = anyValue({ max: SCALAR_MAX, textMax: LINE_MAX });

/** Input of `POST /payments`; the command checks the rest in the order of payments.md#manual-payment. */
export const PaymentCreate = z.object({
  invoice_id: z
    .string({ error: () => MANDATORY })
    .max(LINE_MAX, TOO_LONG)
    .refine((text) => text.trim() !== '', MANDATORY),
  amount_cents: z.preprocess(
    asCents,
    z.int({ error: () => 'invalid_value' }).positive({ error: () => 'invalid_value' }),
  ),
  reference: word.optional(),
  paid_at: word.optional(),
});
export type PaymentCreate = z.infer<typeof PaymentCreate>;

export const CustomerPaymentsQuery = z.object({ ...countedPageQuery, invoice_id: textFilter });
export type CustomerPaymentsQuery = z.infer<typeof CustomerPaymentsQuery>;
export const PaymentsQuery = CustomerPaymentsQuery.extend({
  external_customer_id: textFilter,
  payment_statuses: wordsFilter(PAYMENT_STATUSES),
  payment_provider_codes: listFilter,
  created_from: fromFilter,
  created_to: untilFilter,
});
export type PaymentsQuery = z.infer<typeof PaymentsQuery>;

const textOrNull = z.string().nullable();

export const PaymentView = z.object({
  svc_id: z.uuid(),
  svc_customer_id: z.uuid(),
  external_customer_id: z.string(),
  invoice_ids: z.array(z.uuid()),
  invoice_numbers: z.array(z.string()),
  svc_payable_id: z.uuid(),
  payable_type: z.enum(['Invoice', 'PaymentRequest']),
  amount_cents: z.int(),
  amount_currency: z.string(),
  status: z.string(),
  payment_status: z.enum(PAYMENT_STATUSES),
  type: z.enum(['manual', 'provider']),
  reference: textOrNull,
  payment_provider_code: textOrNull,
  payment_provider_type: z.enum(CONTRACT_PROVIDERS).nullable(),
  external_payment_id: textOrNull,
  provider_payment_id: textOrNull,
  provider_customer_id: textOrNull,
  payment_method_id: textOrNull,
  next_action: z.record(z.string(), z.unknown()),
  /** Why the last attempt took nothing, also while the payment stays `pending`. */
  provider_error: z.object({ message: z.string(), error_code: z.string() }).nullable(),
  /** Day on which a bank debit is expected to be paid. */
  expected_settlement_date: z.string().optional(),
  created_at: z.string(),
});
export type PaymentView = z.infer<typeof PaymentView>;

export const PaymentEnvelope = z.object({ payment: PaymentView });
export const PaymentList = z.object({ payments: z.array(PaymentView), meta: PageMeta });

/** Input of `POST /invoices/{id}/retry_payment`: how it is to be paid this time. */
export const PaymentRetry = z.object({ payment_method: MethodReference });
export const NoBody = z.null();

export const PaymentUrlEnvelope = z.object({
  invoice_payment_details: z.object({
    svc_customer_id: z.uuid(),
    external_customer_id: z.string(),
    payment_provider: z.enum(CONTRACT_PROVIDERS),
    svc_invoice_id: z.uuid(),
    payment_url: z.string(),
  }),
});
