import { z } from 'zod';
import { CREDIT_NOTE_REASONS, CREDIT_STATUSES, REFUND_STATUSES } from '../../../engine/credits/credit-note-states.ts';
import { amountFilter, booleanFilter, dayFilter, listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { integer, oneOf, optionalText } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { LINE_MAX, PROSE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { Metadata, metadataErrors } from '../../catalog/plans/metadata.ts';
import { MissingCharacters } from '../../messaging/documents/missing-characters.ts';

/** How many fees of an invoice one note may name. */
const ITEMS_MAX = 5000;
const word = anyValue({ max: SCALAR_MAX, textMax: LINE_MAX });
const items = anyValue({ max: ITEMS_MAX, textMax: LINE_MAX });

const part = () => integer({ min: 0 }).nullish();

/**
 * What a note is made of. Invoice, items and reason are looked at by the command, in the order of the rules.
 * Rule: credit-notes.md#endpoints, credit-note-amounts.md#creation.
 */
const Create = z.object({
  invoice_id: word.optional(),
  reason: word.optional(),
  items: items.optional(),
  description: optionalText({ max: PROSE_MAX }),
  credit_amount_cents: part(),
  refund_amount_cents: part(),
  offset_amount_cents: part(),
  metadata: Metadata.nullish(),
});
export const CreditNoteCreate = Create.check(metadataErrors());
export type CreditNoteCreate = z.infer<typeof CreditNoteCreate>;

const DocumentedItems = z.array(z.object({ fee_id: z.string(), amount_cents: z.int() }));
export const CreditNoteCreateDocumented = z.object({
  credit_note: Create.extend({
    invoice_id: z.string(),
    reason: z.enum(CREDIT_NOTE_REASONS).nullish(),
    items: DocumentedItems,
  }),
});

export const CreditNoteEstimate = z.object({ invoice_id: word.optional(), items: items.optional() });
export type CreditNoteEstimate = z.infer<typeof CreditNoteEstimate>;
export const CreditNoteEstimateDocumented = z.object({
  credit_note: z.object({ invoice_id: z.string(), items: DocumentedItems }),
});

export const CreditNoteUpdate = z
  .object({ refund_status: oneOf(REFUND_STATUSES).nullish(), metadata: Metadata.nullish() })
  .check(metadataErrors());
export type CreditNoteUpdate = z.infer<typeof CreditNoteUpdate>;

export const CreditNoteMetadata = Metadata.check(renameErrors(() => ['value']));

// Unknown words and malformed dates and numbers are ignored (credit-notes.md#list-filters).
const wordsFilter = (words: readonly string[]) =>
  listFilter
    .transform((values) => {
      const known = values?.filter((value) => words.includes(value));
      return known === undefined || known.length === 0 ? undefined : known;
    })
    .meta({ type: 'array', items: { type: 'string', enum: words } });

const filters = {
  ...countedPageQuery,
  search_term: textFilter,
  issuing_date_from: dayFilter,
  issuing_date_to: dayFilter,
  currency: textFilter,
  reason: wordsFilter(CREDIT_NOTE_REASONS).meta({ type: 'string', enum: CREDIT_NOTE_REASONS }),
  credit_status: wordsFilter(CREDIT_STATUSES).meta({ type: 'string', enum: CREDIT_STATUSES }),
  refund_status: wordsFilter(REFUND_STATUSES).meta({ type: 'string', enum: REFUND_STATUSES }),
  invoice_number: textFilter,
  purchase_order_number: textFilter,
  amount_from: amountFilter,
  amount_to: amountFilter,
  self_billed: booleanFilter,
  billing_entity_codes: listFilter,
  types: wordsFilter(['credit', 'refund', 'offset']),
};
export const CustomerCreditNotesQuery = z.object(filters);
export type CustomerCreditNotesQuery = z.infer<typeof CustomerCreditNotesQuery>;
export const CreditNotesQuery = z.object({ ...filters, external_customer_id: textFilter });
export type CreditNotesQuery = z.infer<typeof CreditNotesQuery>;

const TextOrNull = z.string().nullable();
const Amount = z.int();

const AppliedTax = z.object({
  svc_id: z.string(),
  svc_credit_note_id: z.string(),
  svc_tax_id: TextOrNull,
  tax_name: z.string(),
  tax_code: z.string(),
  tax_rate: z.number(),
  tax_description: TextOrNull,
  base_amount_cents: Amount,
  amount_cents: Amount,
  amount_currency: z.string(),
  created_at: z.string(),
});

const CreditNoteListObject = z.object({
  svc_id: z.string(),
  billing_entity_code: z.string(),
  sequential_id: z.int(),
  number: z.string(),
  svc_invoice_id: z.string(),
  invoice_number: z.string(),
  purchase_order_number: TextOrNull,
  issuing_date: z.string(),
  credit_status: z.enum(CREDIT_STATUSES),
  refund_status: z.enum(REFUND_STATUSES).nullable(),
  reason: z.enum(CREDIT_NOTE_REASONS),
  description: TextOrNull,
  currency: z.string(),
  total_amount_cents: Amount,
  precise_total_amount_cents: z.string(),
  taxes_amount_cents: Amount,
  precise_taxes_amount_cents: z.string(),
  taxes_rate: z.number(),
  sub_total_excluding_taxes_amount_cents: Amount,
  balance_amount_cents: Amount,
  credit_amount_cents: Amount,
  refund_amount_cents: Amount,
  offset_amount_cents: Amount,
  coupons_adjustment_amount_cents: Amount,
  precise_coupons_adjustment_amount_cents: z.string(),
  self_billed: z.boolean(),
  file_url: TextOrNull,
  missing_characters: MissingCharacters,
  xml_url: TextOrNull,
  created_at: z.string(),
  updated_at: z.string(),
  items: z.array(
    z.object({
      svc_id: z.string(),
      amount_cents: Amount,
      precise_amount_cents: z.string(),
      amount_currency: z.string(),
      fee: z.looseObject({}).nullable(),
    }),
  ),
  applied_taxes: z.array(AppliedTax),
  error_details: z.array(z.unknown()),
  metadata: z.record(z.string(), TextOrNull).optional(),
});

export const CreditNoteEnvelope = z.object({
  credit_note: CreditNoteListObject.extend({ customer: z.looseObject({}) }),
});
export const CreditNotesEnvelope = z.object({ credit_notes: z.array(CreditNoteListObject), meta: PageMeta });
export const CreditNoteMetadataEnvelope = z.object({ metadata: z.record(z.string(), TextOrNull).nullable() });
export const CreditNoteEstimateEnvelope = z.object({
  estimated_credit_note: z.object({
    svc_invoice_id: z.string(),
    invoice_number: z.string(),
    currency: z.string(),
    taxes_amount_cents: Amount,
    precise_taxes_amount_cents: z.number(),
    taxes_rate: z.number(),
    sub_total_excluding_taxes_amount_cents: Amount,
    max_creditable_amount_cents: Amount,
    max_refundable_amount_cents: Amount,
    max_offsettable_amount_cents: Amount,
    coupons_adjustment_amount_cents: Amount,
    precise_coupons_adjustment_amount_cents: z.number(),
    items: z.array(z.object({ svc_fee_id: z.string(), amount_cents: Amount })),
    applied_taxes: z.array(
      AppliedTax.omit({ svc_id: true, svc_credit_note_id: true, created_at: true }).extend({
        tax_description: z.string().optional(),
      }),
    ),
  }),
});
