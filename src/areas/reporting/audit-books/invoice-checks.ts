import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Invariants of invoices, their fees, taxes and notes. Rule: auditor.md. */
export const INVOICE_CHECKS: readonly Check[] = [
  {
    code: 'A07',
    mustHold: 'the totals of an invoice follow from its fees, its payments, its notes and from each other',
    resourceType: 'Invoice',
    find: ({ db, organizationId }) => db<Finding[]>`
      select invoice.id as resource_id, expected::text, actual::text, jsonb_build_object('figure', figure) as details
      from invoices invoice
      cross join lateral (
        select figure, expected, actual from (values
          ('fees', (select coalesce(sum(fee.amount_cents), 0) from fees fee
            where fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
              and fee.deleted_at is null), invoice.fees_amount_cents),
          ('sub_total_excluding_taxes', invoice.fees_amount_cents - invoice.progressive_billing_credit_amount_cents
            - invoice.coupons_amount_cents, invoice.sub_total_excluding_taxes_amount_cents),
          ('sub_total_including_taxes', invoice.sub_total_excluding_taxes_amount_cents + invoice.taxes_amount_cents,
            invoice.sub_total_including_taxes_amount_cents),
          ('total', invoice.sub_total_including_taxes_amount_cents - invoice.credit_notes_amount_cents
            - invoice.prepaid_credit_amount_cents, invoice.total_amount_cents),
          ('total_paid', (select coalesce(sum(share.amount_cents), 0) from payment_invoices share
            join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
              and payment.payment_status = 'succeeded'
            where share.organization_id = invoice.organization_id and share.invoice_id = invoice.id),
            invoice.total_paid_amount_cents),
          ('total_offsetted', (select coalesce(sum(settlement.amount_cents), 0) from invoice_settlements settlement
            where settlement.organization_id = invoice.organization_id and settlement.invoice_id = invoice.id
              and settlement.settlement_type = 'credit_note'), invoice.total_offsetted_credit_note_amount_cents),
          ('total_written_off', (select coalesce(sum(settlement.amount_cents), 0) from invoice_settlements settlement
            where settlement.organization_id = invoice.organization_id and settlement.invoice_id = invoice.id
              and settlement.settlement_type = 'write_off' and settlement.reversed_at is null),
            invoice.total_written_off_amount_cents)
        ) as figures (figure, expected, actual)
        where expected <> actual
        limit 1
      ) wrong
      where invoice.organization_id = ${organizationId} and invoice.status in ('finalized', 'voided')
      order by invoice.id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A08',
    mustHold:
      'discounts of a fee are part of it, applied taxes differ from the invoice’s by a cent a tax at most, and what is ' +
      'taxed is the net total but for a cent a fee, where no progressive invoice is credited',
    resourceType: 'Invoice',
    find: ({ db, organizationId }) => db<Finding[]>`
      select fee.invoice_id as resource_id, fee.amount_cents::text as expected,
        fee.precise_coupons_amount_cents::text as actual, jsonb_build_object('fee_id', fee.id) as details
      from fees fee
      where fee.organization_id = ${organizationId} and fee.invoice_id is not null and fee.deleted_at is null
        and (fee.precise_coupons_amount_cents < 0 or fee.precise_coupons_amount_cents > fee.amount_cents)
      union all
      select invoice.id, invoice.taxes_amount_cents::text, sum(tax.amount_cents)::text, '{}'::jsonb
      from invoices invoice
      join invoice_applied_taxes tax on tax.organization_id = invoice.organization_id and tax.invoice_id = invoice.id
      where invoice.organization_id = ${organizationId} and invoice.status in ('finalized', 'voided')
      group by invoice.id
      having abs(sum(tax.amount_cents) - invoice.taxes_amount_cents) > count(*)
      union all
      select invoice.id, invoice.sub_total_excluding_taxes_amount_cents::text,
        sum(fee.amount_cents - fee.precise_coupons_amount_cents)::text, jsonb_build_object('figure', 'taxed')
      from invoices invoice
      join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
        and fee.deleted_at is null
      where invoice.organization_id = ${organizationId} and invoice.status in ('finalized', 'voided')
        and invoice.progressive_billing_credit_amount_cents = 0
      group by invoice.id
      having abs(sum(fee.amount_cents - fee.precise_coupons_amount_cents)
        - invoice.sub_total_excluding_taxes_amount_cents) > count(*)
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A10',
    mustHold: 'notes give back no more than was billed, of a fee and of an invoice',
    resourceType: 'Invoice',
    find: ({ db, organizationId }) => db<Finding[]>`
      select fee.invoice_id as resource_id, fee.amount_cents::text as expected, sum(item.amount_cents)::text as actual,
        jsonb_build_object('fee_id', fee.id) as details
      from credit_note_items item
      join credit_notes note on note.organization_id = item.organization_id and note.id = item.credit_note_id
        and note.status = 'finalized'
      join fees fee on fee.organization_id = item.organization_id and fee.id = item.fee_id
      where item.organization_id = ${organizationId}
      group by fee.id
      having sum(item.amount_cents) > fee.amount_cents
      union all
      select invoice.id, invoice.sub_total_including_taxes_amount_cents::text, sum(note.total_amount_cents)::text,
        '{}'::jsonb
      from credit_notes note
      join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
      where note.organization_id = ${organizationId} and note.status = 'finalized'
      group by invoice.id
      having sum(note.total_amount_cents) > invoice.sub_total_including_taxes_amount_cents
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A18',
    mustHold: 'a paid invoice owes nothing or was marked, and only what is unpaid and past due is overdue',
    resourceType: 'Invoice',
    find: ({ db, organizationId }) => db<Finding[]>`
      select invoice.id as resource_id, 'paid' as expected,
        ${dueCents(db, 'invoice')}::text as actual
      from invoices invoice
      where organization_id = ${organizationId} and status = 'finalized' and payment_status = 'succeeded'
        and invoice_type <> 'advance_charges'
        and ${dueCents(db, 'invoice')} > 0
        and not exists (select from ledger_transactions booked
          where booked.organization_id = invoice.organization_id and booked.rule = 'marked_paid'
            and booked.source_type = 'Invoice' and booked.source_id = invoice.id)
      union all
      select id, 'overdue only when finalized, unpaid and past due', payment_status || ' ' || payment_due_date
      from invoices
      where organization_id = ${organizationId} and payment_overdue
        and (status <> 'finalized' or payment_status = 'succeeded' or payment_dispute_lost_at is not null
          or ${dueCents(db, 'invoices')} <= 0)
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A19',
    mustHold: 'numbers are given once, and the series of a customer has no hole',
    resourceType: 'Customer',
    find: ({ db, organizationId }) => db<Finding[]>`
      select customer_id as resource_id, max(sequential_id)::text as expected, count(*)::text as actual
      from invoices
      where organization_id = ${organizationId} and sequential_id is not null
      group by customer_id, billing_entity_id
      having max(sequential_id) <> count(*)
      union all
      select min(customer_id::text)::uuid, '1', count(*)::text
      from invoices
      where organization_id = ${organizationId} and status in ('finalized', 'voided') and not self_billed
      group by billing_entity_id, number
      having count(*) > 1
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A20',
    mustHold: 'one payment at most is under way for a payable, and none for more than a week',
    resourceType: 'Payment',
    find: (ctx) => ctx.db<Finding[]>`
      select min(id::text)::uuid as resource_id, '1' as expected, count(*)::text as actual
      from payments
      where organization_id = ${ctx.organizationId} and payment_status in ('pending', 'processing')
      group by payable_type, payable_id
      having count(*) > 1
      union all
      select id, 'settled within 7 days', created_at::text from payments
      where organization_id = ${ctx.organizationId} and payment_status = 'processing'
        and created_at < ${ctx.now().subtract({ hours: 7 * 24 })}
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A27',
    mustHold: 'every fee of an issued invoice has its inputs',
    resourceType: 'Fee',
    find: ({ db, organizationId }) => db<Finding[]>`
      select fee.id as resource_id, 'inputs' as expected, null as actual
      from fees fee
      join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
        and invoice.status in ('finalized', 'voided')
      where fee.organization_id = ${organizationId} and fee.deleted_at is null
        and not exists (select from fee_inputs inputs where inputs.fee_id = fee.id)
      order by fee.id
      limit ${MOST_FINDINGS}`,
  },
];
