import type { Db } from '../../../platform/db/connect.ts';

/**
 * How much of a correction's `note` still counts as given back once its invoice `noted` was voided, as SQL: from 0 to
 * 1. Notes of an invoice gave back its payments first, which its void gives back as well, and so only the rest of them,
 * a gift, counts for what is billed in its place. Null where they gave back nothing.
 *
 * Rule: event-corrections.md#regenerated-invoices.
 */
export const keptOfVoided = (db: Db) => db`
  (select greatest(0, gift.cents - noted.total_paid_amount_cents - case when noted.voided_with_notes
        then noted.credit_notes_amount_cents + noted.prepaid_credit_amount_cents else 0 end)
      / nullif(gift.cents, 0) * (note.credit_amount_cents + note.refund_amount_cents)
      / nullif(note.total_amount_cents, 0)
    from (
      select sum(each.credit_amount_cents + each.refund_amount_cents) as cents
      from credit_notes each
      where each.organization_id = noted.organization_id and each.invoice_id = noted.id and each.status = 'finalized'
        and exists (select from correction_adjustments row
          where row.organization_id = each.organization_id and row.credit_note_id = each.id)
    ) gift)`;
