import type { SectionChoice } from '../../customers/invoice-custom-sections/schema.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';

/** The choice of sections by which a new invoice prints what the voided one did. */
export function sectionsOf({ applied_sections: applied }: InvoiceRow): SectionChoice {
  return applied.length === 0
    ? { skip_invoice_custom_sections: true }
    : { invoice_custom_section_codes: applied.map(({ code }) => code) };
}
