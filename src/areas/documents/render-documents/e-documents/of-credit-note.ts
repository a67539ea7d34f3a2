import { documentAmounts } from '../../../../engine/e-documents/amounts.ts';
import type { DocumentFacts } from '../../../../engine/e-documents/facts.ts';
import type { Profile } from '../../../../engine/e-documents/profiles.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';
import type { StatedNote } from '../rest-of-invoice.ts';
import { partOfFee } from './fee-lines.ts';
import { commonFacts, type DocumentBasis } from './of-invoice.ts';
import { paymentOf } from './stated-parties.ts';

interface NoteBasis extends DocumentBasis {
  note: StatedNote;
  fees: ReadonlyMap<string, FeeRow>;
}

/**
 * A credit note as an electronic document: what it gives back of each fee, less what had been taken off that fee.
 *
 * @param profile null where nobody chose one
 * Rules: e-documents.md#facts, e-documents.md#amounts.
 */
export function eCreditNote({ note, fees, ...basis }: NoteBasis, profile: Profile | null): DocumentFacts {
  const { invoice } = basis.parts;
  const stated = note.items.flatMap(({ fee_id, amount_cents }) => {
    const fee = fee_id === null ? undefined : fees.get(fee_id);
    return fee === undefined ? [] : [partOfFee(fee, decimal(amount_cents))];
  });
  const common = commonFacts(basis, { profile, stated, isOrdinary: false });
  const amounts = documentAmounts(common.amountLines, {
    couponsCents: note.coupons_adjustment_amount_cents,
    alreadyInvoicedCents: 0,
    netCents: note.sub_total_excluding_taxes_amount_cents,
    taxCents: note.taxes_amount_cents,
    grossCents: note.total_amount_cents,
    paidCents: 0,
    payableCents: note.total_amount_cents,
  });
  return {
    ...common.facts,
    kind: 'CreditNote',
    typeCode: note.self_billed ? '261' : '381',
    number: note.number,
    issuedOn: note.issuing_date,
    dueOn: null,
    currency: note.currency,
    note: note.description?.trim() || null,
    orderNumber: note.purchase_order_number,
    preceding: [{ number: note.invoice_number, issuedOn: profile === null ? null : invoice.issuing_date }],
    payment:
      profile === null
        ? null
        : paymentOf(common.records, {
            number: note.number,
            currency: note.currency,
            isOrdinary: false,
            charge: basis.sources.charge,
          }),
    terms: null,
    allowances: amounts.allowances,
    vat: amounts.vat,
    totals: amounts.totals,
    unavailable: [...common.unavailable, ...(amounts.meet ? [] : (['amounts_do_not_meet'] as const))],
  };
}
