import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';

const idFilter = textFilter;
const wholeNumber = textFilter.transform((value) =>
  value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined,
);

export const EntriesQuery = z.object({
  ...pageQuery,
  after: wholeNumber,
  account_codes: listFilter,
  rules: listFilter,
  billing_entity_codes: listFilter,
  currency: textFilter,
  external_customer_id: textFilter,
  invoice_id: idFilter,
  credit_note_id: idFilter,
  wallet_id: idFilter,
  payment_id: idFilter,
  transaction_id: idFilter,
  booked_from: fromFilter,
  booked_to: untilFilter,
});
export type EntriesQuery = z.infer<typeof EntriesQuery>;

export const BalancesQuery = z.object({
  /** A day, inclusive, or an instant. */
  at: untilFilter,
  basis: textFilter.pipe(z.enum(['booked', 'document'], { error: 'value_is_invalid' }).optional()),
  currency: textFilter,
  billing_entity_codes: listFilter,
});
export type BalancesQuery = z.infer<typeof BalancesQuery>;

export const EntryView = z.object({
  svc_id: z.string(),
  sequence: z.int(),
  svc_transaction_id: z.string(),
  rule: z.string(),
  booked_at: z.string(),
  booked_on: z.string(),
  document_date: z.string(),
  billing_entity_code: z.string(),
  account_code: z.string(),
  side: z.enum(['debit', 'credit']),
  amount_cents: z.int(),
  currency: z.string(),
  external_customer_id: z.string().nullable(),
  svc_invoice_id: z.string().nullable(),
  svc_credit_note_id: z.string().nullable(),
  svc_wallet_id: z.string().nullable(),
  svc_payment_id: z.string().nullable(),
  svc_fee_id: z.string().nullable(),
  tax_code: z.string().nullable(),
});
export type EntryView = z.infer<typeof EntryView>;

export const EntryList = z.object({ ledger_entries: z.array(EntryView), meta: PageMeta });

export const TransactionEnvelope = z.object({
  ledger_transaction: z.object({
    svc_id: z.string(),
    rule: z.string(),
    source_type: z.string(),
    svc_source_id: z.string(),
    ordinal: z.int(),
    currency: z.string(),
    booked_at: z.string(),
    booked_on: z.string(),
    document_date: z.string(),
    svc_reverses_id: z.string().nullable(),
    lines: z.array(EntryView),
  }),
});

export const AccountList = z.object({
  ledger_accounts: z.array(
    z.object({
      code: z.string(),
      kind: z.string(),
      normal_side: z.enum(['debit', 'credit']),
      currency: z.string(),
      billing_entity_code: z.string(),
      debit_cents: z.int(),
      credit_cents: z.int(),
      balance_cents: z.int(),
    }),
  ),
});

export const TrialBalanceEnvelope = z.object({
  trial_balance: z.object({
    at: z.string(),
    basis: z.enum(['booked', 'document']),
    currencies: z.array(
      z.object({
        currency: z.string(),
        rows: z.array(z.object({ account_code: z.string(), debit_cents: z.int(), credit_cents: z.int() })),
        total_debit_cents: z.int(),
        total_credit_cents: z.int(),
        balanced: z.boolean(),
      }),
    ),
    as_of_sequence: z.int(),
  }),
});
