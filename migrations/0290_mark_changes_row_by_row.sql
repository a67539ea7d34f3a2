-- Why: a schema that Citus has distributed refuses triggers with transition tables, and runs triggers where no session
--   has set where names are looked for. So what a statement changed is marked row by row, conditions of a trigger
--   deciding before its function is called, and functions that name tables or functions bring their own path.
-- Locks: invoices, fees, credit_notes, daily_usages, wallet_transactions, wallet_holds and events, against writes, for
--   an instant each.

-- Marks of reports. The source is the row itself.
create function mark_source() returns trigger language plpgsql set search_path from current as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  values (new.organization_id, tg_argv[0], new.id);
  return null;
end $$;
comment on function mark_source() is 'Marks the row as a source of reports that changed; its argument is the type.';

-- The source is the invoice that the row names.
create function mark_invoice_of_row() returns trigger language plpgsql set search_path from current as $$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  values (new.organization_id, 'invoice', new.invoice_id);
  return null;
end $$;
comment on function mark_invoice_of_row() is 'Marks the invoice of the row as a source of reports that changed.';

-- One mark is enough for all fees that a transaction changes of an invoice: it is read after the commit. The note of it
-- goes with its savepoint, as the mark does.
create function mark_finalized_invoice_of_row() returns trigger language plpgsql set search_path from current as $$
begin
  if current_setting('meterstone.marked_invoice', true) = new.invoice_id::text then return null; end if;
  insert into analytics_marks (organization_id, source_type, source_id)
  select organization_id, 'invoice', id from invoices
  where organization_id = new.organization_id and id = new.invoice_id and status = 'finalized';
  if found then perform set_config('meterstone.marked_invoice', new.invoice_id::text, true); end if;
  return null;
end $$;
comment on function mark_finalized_invoice_of_row() is
  'Marks the invoice of the row, once it is final, as a source of reports that changed.';

drop trigger invoices_mark_new on invoices;
create trigger invoices_mark_new after insert on invoices
  for each row when (new.status = 'finalized') execute function mark_source('invoice');
drop trigger invoices_mark_changed on invoices;
create trigger invoices_mark_changed after update on invoices
  for each row when ('finalized' in (old.status, new.status) and
    (old.status, old.payment_status, old.payment_dispute_lost_at, old.self_billed, old.issuing_date, old.currency,
      old.total_amount_cents, old.sub_total_excluding_taxes_amount_cents, old.sub_total_including_taxes_amount_cents,
      old.credit_notes_amount_cents, old.prepaid_granted_credit_amount_cents, old.prepaid_purchased_credit_amount_cents,
      old.progressive_billing_credit_amount_cents)
    is distinct from
    (new.status, new.payment_status, new.payment_dispute_lost_at, new.self_billed, new.issuing_date, new.currency,
      new.total_amount_cents, new.sub_total_excluding_taxes_amount_cents, new.sub_total_including_taxes_amount_cents,
      new.credit_notes_amount_cents, new.prepaid_granted_credit_amount_cents, new.prepaid_purchased_credit_amount_cents,
      new.progressive_billing_credit_amount_cents))
  execute function mark_source('invoice');

drop trigger fees_mark_new on fees;
create trigger fees_mark_new after insert on fees
  for each row when (new.invoice_id is null and new.pay_in_advance) execute function mark_source('fee');
create trigger fees_mark_invoice_of_new after insert on fees
  for each row when (new.invoice_id is not null) execute function mark_finalized_invoice_of_row();
drop trigger fees_mark_changed on fees;
create trigger fees_mark_changed after update on fees
  for each row when (new.pay_in_advance and (old.invoice_id is null or new.invoice_id is null)
    and (old.invoice_id, old.amount_cents, old.deleted_at)
      is distinct from (new.invoice_id, new.amount_cents, new.deleted_at))
  execute function mark_source('fee');
create trigger fees_mark_invoice_of_changed after update on fees
  for each row when (new.invoice_id is not null
    and (old.invoice_id, old.amount_cents, old.precise_coupons_amount_cents, old.deleted_at)
      is distinct from (new.invoice_id, new.amount_cents, new.precise_coupons_amount_cents, new.deleted_at))
  execute function mark_finalized_invoice_of_row();

drop trigger credit_notes_mark_new on credit_notes;
create trigger credit_notes_mark_new after insert on credit_notes
  for each row when (new.status = 'finalized' and new.refund_amount_cents > 0) execute function mark_invoice_of_row();
drop trigger credit_notes_mark_changed on credit_notes;
create trigger credit_notes_mark_changed after update on credit_notes
  for each row when ((old.status, old.refund_amount_cents) is distinct from (new.status, new.refund_amount_cents))
  execute function mark_invoice_of_row();

drop trigger daily_usages_mark_new on daily_usages;
create trigger daily_usages_mark_new after insert on daily_usages
  for each row execute function mark_source('daily_usage');
drop trigger daily_usages_mark_changed on daily_usages;
create trigger daily_usages_mark_changed after update on daily_usages
  for each row execute function mark_source('daily_usage');

drop trigger wallet_transactions_mark_new on wallet_transactions;
create trigger wallet_transactions_mark_new after insert on wallet_transactions
  for each row when (new.status = 'settled') execute function mark_source('wallet_transaction');
drop trigger wallet_transactions_mark_changed on wallet_transactions;
create trigger wallet_transactions_mark_changed after update on wallet_transactions
  for each row when ((old.status, old.settled_at, old.amount, old.credit_amount)
    is distinct from (new.status, new.settled_at, new.amount, new.credit_amount))
  execute function mark_source('wallet_transaction');

drop function mark_new_invoices();
drop function mark_changed_invoices();
drop function mark_new_fees();
drop function mark_changed_fees();
drop function mark_new_credit_notes();
drop function mark_changed_credit_notes();
drop function mark_new_daily_usages();
drop function mark_new_wallet_transactions();
drop function mark_changed_wallet_transactions();

-- Access checks forget what they knew of the subscriptions of a changed event.
drop trigger events_tell_access on events;
create or replace function tell_access_of_changed_events() returns trigger language plpgsql as $$
begin
  perform tell_access('s:' || old.external_subscription_id);
  perform tell_access('s:' || new.external_subscription_id);
  return null;
end $$;
create trigger events_tell_access after update on events
  for each row execute function tell_access_of_changed_events();

-- A hold never changes its wallet. `new` is null where a hold is deleted, `old` where one is made.
drop trigger wallet_holds_follow_new on wallet_holds;
drop trigger wallet_holds_follow_changed on wallet_holds;
drop trigger wallet_holds_follow_dropped on wallet_holds;
create or replace function follow_wallet_holds() returns trigger language plpgsql as $$
declare
  organization uuid := coalesce(new.organization_id, old.organization_id);
  holder uuid := coalesce(new.wallet_id, old.wallet_id);
begin
  update wallet_held held
  set held_cents = held.held_cents
    + case when new.awaits_refresh or new.status = 'open' and new.expires_at > held.counted_until
        then new.amount_cents else 0 end
    - case when old.awaits_refresh or old.status = 'open' and old.expires_at > held.counted_until
        then old.amount_cents else 0 end
  where held.organization_id = organization and held.wallet_id = holder;
  perform tell_access('c:' || customer_id) from wallets where organization_id = organization and id = holder;
  return null;
end $$;
create trigger wallet_holds_follow after insert or update or delete on wallet_holds
  for each row execute function follow_wallet_holds();

-- What a command inserts must not hold an instant within `coalesce`: it is read before.
do $$
declare
  present constant text :=
    'coalesce((select frozen_time from test_clocks where organization_id = organization), clock_timestamp())';
  former constant text := pg_get_functiondef('decide_budgets'::regproc);
  declared constant text :=
    replace(former, E'\ndeclare\n', format(E'\ndeclare\n  opened_at timestamptz :=\n    %s;\n', present));
  wanted constant text := replace(declared, format(E'\n    %s\n  from', present), E'\n    opened_at\n  from');
begin
  if declared = former or wanted = declared then raise exception 'decide_budgets is not as it was'; end if;
  execute wanted;
end $$;

-- Previews look first at copies of some tables. None of these functions writes to one of those, and what they read of
-- them is the same in both.
do $$
declare
  used record;
begin
  for used in
    select oid::regprocedure as name from pg_proc
    where pronamespace = current_schema()::regnamespace and prokind = 'f'
      and prolang = (select oid from pg_language where lanname = 'plpgsql')
      and proname not in ('tell_access', 'lock_quote', 'refuse_change', 'refuse_change_of_e_document')
  loop
    execute format('alter function %s set search_path from current', used.name);
  end loop;
end $$;
