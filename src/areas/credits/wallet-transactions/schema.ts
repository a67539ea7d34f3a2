import { z } from 'zod';
import { metadataFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { boolean, optionalText, TOO_LONG, text } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';
import { SectionChoice, SelectedSectionView } from '../../customers/invoice-custom-sections/schema.ts';
import { creditsInput, pairsInput, paymentMethodInput, priorityInput } from '../wallets/input-fields.ts';
import { WalletObject } from '../wallets/schema.ts';
import { TRANSACTION_KINDS, TRANSACTION_SOURCES, TRANSACTION_STATUSES, TRANSACTION_TYPES } from './queries.ts';

const NAME_MAX = 255;
const PURCHASE_ORDER_NUMBER_MAX = 255;

/** Input of `POST /wallet_transactions`. Rule: wallets.md#transactions. */
export const TransactionCreate = z
  .object({
    wallet_id: text(),
    paid_credits: creditsInput('paid_credits'),
    granted_credits: creditsInput('granted_credits'),
    voided_credits: creditsInput('voided_credits'),
    voided_transaction_id: z.string().max(LINE_MAX, TOO_LONG).nullish(),
    invoice_requires_successful_payment: boolean().nullish(),
    ignore_paid_top_up_limits: boolean().nullish(),
    priority: priorityInput(),
    name: z.string('invalid_value').max(NAME_MAX, 'too_long').nullish(),
    metadata: pairsInput(),
    payment_method: paymentMethodInput(),
    invoice_custom_section: SectionChoice,
    purchase_order_number: optionalText({ max: PURCHASE_ORDER_NUMBER_MAX }),
  })
  .check(renameErrors((path) => (path[0] === 'payment_method' ? ['payment_method'] : path)));
export type TransactionCreate = z.infer<typeof TransactionCreate>;

export const TransactionObject = z.object({
  svc_id: z.uuid(),
  svc_wallet_id: z.uuid(),
  svc_invoice_id: z.uuid().nullable(),
  svc_credit_note_id: z.uuid().nullable(),
  svc_voided_invoice_id: z.uuid().nullable(),
  billing_entity_code: z.string(),
  transaction_type: z.enum(TRANSACTION_TYPES),
  transaction_status: z.enum(TRANSACTION_KINDS),
  status: z.enum(TRANSACTION_STATUSES),
  source: z.enum(TRANSACTION_SOURCES),
  amount: z.string(),
  credit_amount: z.string(),
  remaining_amount_cents: z.int().nullable(),
  remaining_credit_amount: z.string().nullable(),
  priority: z.int(),
  name: z.string().nullable(),
  metadata: z.array(z.object({ key: z.string(), value: z.string() })),
  invoice_requires_successful_payment: z.boolean(),
  payment_method: WalletObject.shape.payment_method,
  purchase_order_number: z.string().nullable(),
  applied_invoice_custom_sections: z.array(SelectedSectionView),
  settled_at: z.iso.datetime().nullable(),
  failed_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
});

export const TransactionEnvelope = z.object({ wallet_transaction: TransactionObject });
export const Transactions = z.object({ wallet_transactions: z.array(TransactionObject) });
export const TransactionList = z.object({ wallet_transactions: z.array(TransactionObject), meta: PageMeta });

/** One of some words; any other is ignored. */
const wordFilter = (words: readonly string[]) =>
  textFilter
    .transform((value) => (value !== undefined && words.includes(value) ? value : undefined))
    .meta({ type: 'string', enum: words });

export const TransactionListQuery = z.object({
  ...countedPageQuery,
  status: wordFilter(TRANSACTION_STATUSES),
  transaction_status: wordFilter(TRANSACTION_KINDS),
  transaction_type: wordFilter(TRANSACTION_TYPES),
  metadata: metadataFilter,
});
export type TransactionListQuery = z.infer<typeof TransactionListQuery>;

const Consumption = z.object({
  svc_id: z.uuid(),
  amount_cents: z.int(),
  credit_amount: z.string(),
  created_at: z.iso.datetime(),
  wallet_transaction: TransactionObject,
});
export const ConsumptionList = z.object({ wallet_transaction_consumptions: z.array(Consumption), meta: PageMeta });
export const FundingList = z.object({ wallet_transaction_fundings: z.array(Consumption), meta: PageMeta });
export const ConsumptionListQuery = z.object(pageQuery);

export const PaymentDetails = z.object({
  wallet_transaction_payment_details: z.object({
    svc_customer_id: z.uuid(),
    external_customer_id: z.string(),
    payment_provider: z.string(),
    svc_wallet_transaction_id: z.uuid(),
    payment_url: z.string(),
  }),
});
