-- Why: a note gave back nothing of what an invoice had billed without tax, where a coupon or a note had lowered the
-- credit of its progressive invoice, and what a group took over from another was given back on both documents. Each
-- fee now keeps what its invoice billed of it without tax, and what it took over of which progressive fees.
-- What several groups took over of one progressive fee is an adjustment each, so that a fee is in one adjustment for
-- each of them and not in one alone.
-- Locks: fees for an instant: the default is kept in the catalog and the other column is null, so nothing is rewritten;
-- correction_adjustments while its key is built. Fees of invoices with a progressive credit are updated.

alter table fees add column untaxed_amount_cents numeric(30, 5) not null default 0;
comment on column fees.untaxed_amount_cents is
  'What its invoice billed of it beyond the taxed amount; negative where it taxed more than it billed.';
alter table fees add column progressive_parts jsonb;
comment on column fees.progressive_parts is
  'What it took over of fees of a progressive invoice: their ids, the credit, and the amount that they still bear.';

-- Issued invoices kept no such parts: their credit is spread over the fees of the same usage by what these bear.
create temporary table taken_over as
select fee.organization_id, fee.invoice_id, fee.id as fee_id, fee.amount_cents, billed.id as billed_fee_id,
  credit.amount_cents as credit_cents, credit.id as credit_id,
  least(fee.amount_cents, billed.amount_cents) as borne_cents
from credits credit
join invoices invoice on invoice.organization_id = credit.organization_id and invoice.id = credit.invoice_id
join fees fee on fee.organization_id = credit.organization_id and fee.invoice_id = credit.invoice_id
  and fee.fee_type = 'charge' and not fee.pay_in_advance and fee.correction_id is null
  and fee.true_up_parent_fee_id is null and fee.deleted_at is null
join fees billed on billed.organization_id = fee.organization_id
  and billed.invoice_id = credit.progressive_billing_invoice_id and billed.fee_type = 'charge'
  and billed.subscription_id = fee.subscription_id and billed.charge_id = fee.charge_id
  and billed.charge_filter_id is not distinct from fee.charge_filter_id and billed.grouped_by = fee.grouped_by
  and billed.deleted_at is null
where credit.progressive_billing_invoice_id is not null
  and invoice.status not in ('draft', 'deleted', 'closed');

with part as (
  select *, least(amount_cents, coalesce(
      round(sum(borne_cents) over own * credit_cents / nullif(sum(borne_cents) over whole, 0)), 0)
    - coalesce(
      round((sum(borne_cents) over own - borne_cents) * credit_cents / nullif(sum(borne_cents) over whole, 0)), 0))
    as cents
  from taken_over
  window own as (partition by credit_id order by fee_id, billed_fee_id),
    whole as (partition by credit_id)
), of_fee as (
  select organization_id, fee_id, jsonb_agg(jsonb_build_object('fee_id', billed_fee_id, 'credit_cents', cents,
    'part_cents', cents) order by billed_fee_id) as parts
  from part
  where cents > 0
  group by 1, 2
)
update fees fee set progressive_parts = of_fee.parts
from of_fee
where fee.organization_id = of_fee.organization_id and fee.id = of_fee.fee_id;

with untaxed as (
  select invoice.organization_id, invoice.id as invoice_id,
    sum(fee.precise_coupons_amount_cents) - invoice.coupons_amount_cents
      - invoice.progressive_billing_credit_amount_cents as cents
  from invoices invoice
  join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
    and fee.deleted_at is null
  where invoice.progressive_billing_credit_amount_cents > 0
    and invoice.status not in ('draft', 'deleted', 'closed')
  group by invoice.organization_id, invoice.id
), bearing as (
  select distinct organization_id, invoice_id, fee_id, borne_cents from taken_over
), share as (
  select bearing.organization_id, bearing.fee_id,
    untaxed.cents * bearing.borne_cents / nullif(sum(bearing.borne_cents) over invoice, 0) as cents
  from bearing
  join untaxed on untaxed.organization_id = bearing.organization_id and untaxed.invoice_id = bearing.invoice_id
  -- Less than a cent is what shares of coupons were rounded by.
  where abs(untaxed.cents) >= 1
  window invoice as (partition by bearing.invoice_id)
)
update fees fee set untaxed_amount_cents = round(share.cents, 5)
from share
where fee.organization_id = share.organization_id and fee.id = share.fee_id and share.cents is not null;

drop table taken_over;

alter table correction_adjustments drop constraint correction_adjustments_fee_key;
create unique index correction_adjustments_fee_key on correction_adjustments
  (correction_id, fee_id, coalesce(charge_filter_id, '00000000-0000-0000-0000-000000000000'), md5(grouped_by::text));
