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
        -- Of a fee that took over progressive fees, and of these, items give back what each of them billed itself, to
        -- the cent (event-corrections.md#usage-billed-progressively).
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
        select correction_id, 'settled', 'open', jsonb_build_object('fee_id', fee_id)
        from correction_waiting_fees
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
        select credited.correction_id, credited.cents::text, round(given.cents)::text,
          jsonb_build_object('invoice_id', credited.invoice_id, 'credit_note_ids', to_jsonb(credited.note_ids))
        from credited
        cross join lateral (
          select coalesce(sum(case
              when fee.progressive_parts is null and not is_behind then item.amount_cents
              else item.precise_amount_cents * (case when is_behind then fee.amount_cents
                    - fee.precise_coupons_amount_cents + fee.untaxed_amount_cents + part.credit_cents
                  else fee.amount_cents end - part.cents) / nullif(fee.amount_cents, 0)
            end), 0) as cents,
            count(*) filter (where fee.progressive_parts is not null or is_behind) as roundings
          from credit_notes note
          join credit_note_items item on item.organization_id = note.organization_id and item.credit_note_id = note.id
          join fees fee on fee.organization_id = item.organization_id and fee.id = item.fee_id
          cross join lateral (
            select coalesce(sum(own.part_cents), 0) as cents, coalesce(sum(own.credit_cents), 0) as credit_cents
            from jsonb_to_recordset(fee.progressive_parts) as own (part_cents bigint, credit_cents numeric)
          ) part
          cross join lateral (
            select fee.invoice_id <> credited.invoice_id and fee.correction_id is null as is_behind
          ) place
          where note.organization_id = ${organizationId} and note.id = any (credited.note_ids)
            and note.status = 'finalized'
        ) given
        where abs(credited.cents - given.cents) > given.roundings
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
