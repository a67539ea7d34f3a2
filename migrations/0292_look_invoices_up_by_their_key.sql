-- Why: each fee that is stored looks its invoice up. While nothing was known of the table, the planner took another
--   index that begins with the organization, and read all its invoices for each fee (invoices_prefix: 500 pages, not
--   3). The row is looked up by its key alone, and the rest is compared afterwards.
-- Locks: none; the function is exchanged.

create or replace function mark_finalized_invoice_of_row() returns trigger
language plpgsql set search_path from current as $$
begin
  if current_setting('meterstone.marked_invoice', true) = new.invoice_id::text then return null; end if;
  insert into analytics_marks (organization_id, source_type, source_id)
  select invoice.organization_id, 'invoice', invoice.id
  from (select organization_id, id, status from invoices where id = new.invoice_id offset 0) invoice
  where invoice.organization_id = new.organization_id and invoice.status = 'finalized';
  if found then perform set_config('meterstone.marked_invoice', new.invoice_id::text, true); end if;
  return null;
end $$;
