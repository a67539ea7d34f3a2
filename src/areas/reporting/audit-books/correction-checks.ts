import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Invariants of corrected usage. Rules: event-corrections.md "invariants", auditor.md. */
export const CORRECTION_CHECKS: readonly Check[] = [
  {
    code: 'A31',
    mustHold:
      'a settled correction has settled all that it concerns, by documents and by what it left, which add up to its ' +
      'differences',
    resourceType: 'EventCorrection',
    find: ({ db, organizationId }) => db<Finding[]>`
      with settled as materialized (
        select id from event_corrections
        where organization_id = ${organizationId} and status = 'settled' and not dry_run
      ), adjustment as materialized (
        select adjustment.* from correction_adjustments adjustment
        where adjustment.organization_id = ${organizationId} and adjustment.correction_id in (select id from settled)
          and adjustment.kind is not null and adjustment.delta_amount_cents is not null
      ), credited as (
        -- What was netted within an invoice adds up to nothing; what coupons had paid for altogether has no note.
        -- A note of an invoice that was credited with a progressive one gives back what that leaves of its items.
        select correction_id, invoice_id, sum(billed_amount_cents - settled_amount_cents) as cents,
          coalesce(array_agg(distinct credit_note_id) filter (where credit_note_id is not null), '{}') as note_ids
        from adjustment
        where invoice_id is not null
        group by correction_id, invoice_id
        having bool_and(booked_as <> 'credit_note' or credit_note_id is not null)
      )
      select distinct on (resource_id) resource_id, expected, actual, details
      from (
        select correction_id as resource_id, 'settled' as expected, 'open' as actual,
          jsonb_build_object('invoice_id', invoice_id) as details
        from correction_periods
        where organization_id = ${organizationId} and settled_at is null and correction_id in (select id from settled)
        union all
        select correction_id, 'settled', 'open', jsonb_build_object('charge_id', charge_id)
        from correction_chains
        where organization_id = ${organizationId} and settled_at is null and correction_id in (select id from settled)
        union all
        select correction_id, 'settled', 'open', jsonb_build_object('charge_id', charge_id)
        from correction_renewals
        where organization_id = ${organizationId} and settled_at is null and correction_id in (select id from settled)
        union all
        select correction_id, (new_amount_cents - old_amount_cents)::text, delta_amount_cents::text,
          jsonb_build_object('adjustment_id', id)
        from adjustment
        where new_amount_cents - old_amount_cents <> delta_amount_cents
        union all
        select correction_id, (delta_amount_cents + uncreditable_amount_cents)::text,
          (settled_amount_cents + left_amount_cents)::text, jsonb_build_object('adjustment_id', id)
        from adjustment
        where invoice_id is not null
          and delta_amount_cents + uncreditable_amount_cents <> settled_amount_cents + left_amount_cents
        union all
        select correction_id, 'an invoice', null, jsonb_build_object('adjustment_id', id)
        from adjustment
        where booked_as = 'invoice' and billed_amount_cents > 0 and new_fee_id is null
        union all
        select credited.correction_id, credited.cents::text, given.least_cents::text,
          jsonb_build_object('invoice_id', credited.invoice_id, 'credit_note_ids', to_jsonb(credited.note_ids))
        from credited
        cross join lateral (
          select coalesce(sum(case when invoice.progressive_billing_credit_amount_cents > 0
              then note.sub_total_excluding_taxes_amount_cents else items.cents end), 0) as least_cents,
            coalesce(sum(case when invoice.progressive_billing_credit_amount_cents > 0
              and invoice.coupons_amount_cents = 0
              then note.sub_total_excluding_taxes_amount_cents else items.cents end), 0) as most_cents
          from credit_notes note
          join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
          cross join lateral (
            select coalesce(sum(item.amount_cents), 0) as cents
            from credit_note_items item
            where item.organization_id = note.organization_id and item.credit_note_id = note.id
          ) items
          where note.organization_id = ${organizationId} and note.id = any (credited.note_ids)
            and note.status = 'finalized'
        ) given
        where credited.cents not between given.least_cents and given.most_cents
        union all
        select fee.correction_id, billed.cents::text, fee.amount_cents::text, jsonb_build_object('fee_id', fee.id)
        from fees fee
        cross join lateral (
          select coalesce(sum(row.billed_amount_cents), 0) as cents
          from correction_adjustments row
          where row.organization_id = ${organizationId} and row.new_fee_id = fee.id
        ) billed
        where fee.organization_id = ${organizationId} and fee.correction_id in (select id from settled)
          and fee.original_fee_id is null and fee.deleted_at is null and billed.cents <> fee.amount_cents
          and not exists (select from adjusted_fees adjusted
            where adjusted.organization_id = fee.organization_id and adjusted.invoice_id = fee.invoice_id)
      ) as found
      order by resource_id
      limit ${MOST_FINDINGS}`,
  },
];
