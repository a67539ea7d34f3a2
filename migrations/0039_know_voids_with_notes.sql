-- Why: a note that somebody made by hand after an invoice was voided counted as one by which the void gave back its
-- payments; so an invoice says whether it was voided with notes. And a fee of a progressive invoice that usage of two
-- charges had taken over gives back to both in one correction, which failed because its adjustments had the same key.
-- Locks: invoices while voided ones are marked; writers of correction_adjustments while the key is built.

alter table invoices add column voided_with_notes boolean not null default false;
comment on column invoices.voided_with_notes is
  'Whether notes stand for what had paid it, so that its void gave nothing back to notes and wallets.';
update invoices set voided_with_notes = true
where status = 'voided' and exists (
  select from credit_notes note
  where note.organization_id = invoices.organization_id and note.invoice_id = invoices.id
    and note.created_at = invoices.voided_at
    and not exists (select from correction_adjustments row
      where row.organization_id = note.organization_id and row.credit_note_id = note.id));

drop index correction_adjustments_fee_key;
create unique index correction_adjustments_fee_key on correction_adjustments
  (correction_id, fee_id, kind, coalesce(subscription_id, '00000000-0000-0000-0000-000000000000'),
    coalesce(charge_id, '00000000-0000-0000-0000-000000000000'),
    coalesce(charge_filter_id, '00000000-0000-0000-0000-000000000000'),
    md5(grouped_by::text), coalesce(md5(credited_item::text), ''));
