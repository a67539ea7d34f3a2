-- Why: access checks forget what changed, jobs know the customer of their work, and previews defer references.
-- Locks: only new tables.

-- What an access check keeps in Redis is dropped after the commit of whatever changes it. Triggers note the scopes
-- of a change in a setting that ends with the transaction, and whoever runs the transaction reads them with its last
-- statement. Scopes: `o` the organization, `c:` and a customer's id, `s:` and a subscription's external id. None of
-- these triggers fires when events are stored or their batches are finished.
create function tell_access(scope text) returns void language plpgsql as $$
declare
  told text := coalesce(nullif(current_setting('meterstone.access', true), ''), chr(31));
begin
  if told = chr(31) || 'o' || chr(31) or position(chr(31) || scope || chr(31) in told) > 0 then return; end if;
  -- many at once: the whole organization
  if scope = 'o' or length(told) > 10000 then told := chr(31) || 'o' || chr(31);
  else told := told || scope || chr(31); end if;
  perform set_config('meterstone.access', told, true);
end $$;

create function tell_access_of_organization() returns trigger language plpgsql as $$
begin
  perform tell_access('o');
  return null;
end $$;
create trigger features_tell_access after update or delete on features
  for each statement execute function tell_access_of_organization();
create trigger privileges_tell_access after insert or update or delete on privileges
  for each statement execute function tell_access_of_organization();
create trigger feature_usage_limits_tell_access after insert or update or delete on feature_usage_limits
  for each statement execute function tell_access_of_organization();
create trigger billable_metrics_tell_access after update or delete on billable_metrics
  for each statement execute function tell_access_of_organization();
create trigger plans_tell_access
  after update of parent_id, interval, bill_charges_monthly, pay_in_advance, amount_currency, deleted_at on plans
  for each statement execute function tell_access_of_organization();
create trigger billing_entities_tell_access after update of timezone on billing_entities
  for each statement execute function tell_access_of_organization();
create trigger organizations_tell_access after update of deny_when_overdue on organizations
  for each statement execute function tell_access_of_organization();

create function tell_access_of_subscription() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then perform tell_access('s:' || old.external_id); end if;
  if tg_op <> 'DELETE' then perform tell_access('s:' || new.external_id); end if;
  return null;
end $$;
create trigger subscriptions_tell_access
  after insert or delete
  or update of customer_id, plan_id, billing_entity_id, previous_subscription_id, external_id, status,
    billing_time, subscription_at, started_at, activated_at, ending_at, terminated_at on subscriptions
  for each row execute function tell_access_of_subscription();

-- Entitlements and removals of one subscription concern it alone, those of a plan everybody.
create function tell_access_of_entitlement() returns trigger language plpgsql as $$
declare
  holder uuid := case when tg_op = 'DELETE' then old.subscription_id else new.subscription_id end;
begin
  if holder is null then perform tell_access('o');
  else perform tell_access('s:' || external_id) from subscriptions where id = holder; end if;
  return null;
end $$;
create trigger entitlements_tell_access after insert or update or delete on entitlements
  for each row execute function tell_access_of_entitlement();
create trigger entitlement_removals_tell_access after insert or update or delete on entitlement_removals
  for each row execute function tell_access_of_entitlement();

-- Values that go with their entitlement are told by it.
create function tell_access_of_entitlement_value() returns trigger language plpgsql as $$
begin
  perform tell_access(coalesce('s:' || subscription.external_id, 'o'))
  from entitlements entitlement
  left join subscriptions subscription on subscription.id = entitlement.subscription_id
  where entitlement.id = case when tg_op = 'DELETE' then old.entitlement_id else new.entitlement_id end;
  return null;
end $$;
create trigger entitlement_values_tell_access after insert or update or delete on entitlement_values
  for each row execute function tell_access_of_entitlement_value();

create function tell_access_of_customer() returns trigger language plpgsql as $$
begin
  perform tell_access('c:' || new.id);
  return null;
end $$;
create trigger customers_tell_access after update of timezone, billing_entity_id, deleted_at on customers
  for each row execute function tell_access_of_customer();

create function tell_access_of_wallet() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.status, old.code, old.currency, old.balance_cents, old.ongoing_balance_cents)
    is not distinct from (new.status, new.code, new.currency, new.balance_cents, new.ongoing_balance_cents)
  then return null; end if;
  perform tell_access('c:' || case when tg_op = 'DELETE' then old.customer_id else new.customer_id end);
  return null;
end $$;
create trigger wallets_tell_access
  after insert or delete or update of status, code, currency, balance_cents, ongoing_balance_cents on wallets
  for each row execute function tell_access_of_wallet();

create function tell_access_of_invoice() returns trigger language plpgsql as $$
begin
  if old.payment_overdue is distinct from new.payment_overdue then perform tell_access('c:' || new.customer_id); end if;
  return null;
end $$;
create trigger invoices_tell_access after update of payment_overdue on invoices
  for each row execute function tell_access_of_invoice();

-- Corrections and the events of deleted metrics; storing events updates none.
create function tell_access_of_changed_events() returns trigger language plpgsql as $$
begin
  perform tell_access('s:' || external_subscription_id) from (
    select external_subscription_id from new_rows union select external_subscription_id from old_rows) changed;
  return null;
end $$;
create trigger events_tell_access after update on events
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_access_of_changed_events();

-- The holds that a statement changed: the sums of their wallets follow, and access checks forget what they knew of
-- the wallets' customers. By the statement, where the trigger before looked a wallet up for each row.
create function follow_wallet_holds() returns trigger language plpgsql as $$
declare
  came wallet_holds[];
  gone wallet_holds[];
  holders uuid[];
begin
  if tg_op <> 'DELETE' then select array_agg(new_rows) into came from new_rows; end if;
  if tg_op <> 'INSERT' then select array_agg(old_rows) into gone from old_rows; end if;
  select array_agg(distinct wallet_id) into holders from unnest(came || gone);
  update wallet_held held
  set held_cents = held.held_cents
    + coalesce((select sum(amount_cents) from unnest(came) hold where hold.wallet_id = held.wallet_id
        and (awaits_refresh or status = 'open' and expires_at > held.counted_until)), 0)
    - coalesce((select sum(amount_cents) from unnest(gone) hold where hold.wallet_id = held.wallet_id
        and (awaits_refresh or status = 'open' and expires_at > held.counted_until)), 0)
  where held.wallet_id = any (holders)
    and held.organization_id in (select organization_id from unnest(came || gone));
  perform tell_access('c:' || customer_id) from wallets where id = any (holders);
  return null;
end $$;
create trigger wallet_holds_follow_new after insert on wallet_holds
  referencing new table as new_rows for each statement execute function follow_wallet_holds();
create trigger wallet_holds_follow_changed after update on wallet_holds
  referencing old table as old_rows new table as new_rows for each statement execute function follow_wallet_holds();
create trigger wallet_holds_follow_dropped after delete on wallet_holds
  referencing old table as old_rows for each statement execute function follow_wallet_holds();

create function customer_of_work(organization uuid, payload jsonb) returns uuid language plpgsql stable as $$
declare
  subscription uuid := coalesce(payload ->> 'subscription_id', payload #>> '{lines,0,subscription_id}');
begin
  if payload ->> 'customer_id' is not null then
    return payload ->> 'customer_id';
  elsif subscription is not null then
    return (select customer_id from subscriptions where organization_id = organization and id = subscription);
  elsif payload ->> 'invoice_id' is not null then
    return (select customer_id from invoices
      where organization_id = organization and id = (payload ->> 'invoice_id')::uuid);
  elsif payload ->> 'wallet_id' is not null then
    return (select customer_id from wallets
      where organization_id = organization and id = (payload ->> 'wallet_id')::uuid);
  elsif payload ->> 'payment_id' is not null then
    return (select customer_id from payments
      where organization_id = organization and id = (payload ->> 'payment_id')::uuid);
  elsif payload ->> 'payment_request_id' is not null then
    return (select customer_id from payment_requests
      where organization_id = organization and id = (payload ->> 'payment_request_id')::uuid);
  elsif payload ->> 'credit_note_id' is not null then
    return (select customer_id from credit_notes
      where organization_id = organization and id = (payload ->> 'credit_note_id')::uuid);
  elsif payload ->> 'correction_id' is not null then
    return (select s.customer_id from event_corrections correction
      join subscriptions s
        on s.organization_id = correction.organization_id and s.external_id = correction.external_subscription_id
      where correction.organization_id = organization and correction.id = (payload ->> 'correction_id')::uuid
      limit 1);
  elsif jsonb_typeof(payload -> 'external_subscription_id') = 'string' then
    return (select customer_id from subscriptions
      where organization_id = organization and external_id = payload ->> 'external_subscription_id'
      limit 1);
  end if;
  return null;
end $$;

-- A preview writes what it imagines and rolls back. Each check of a foreign key locks the row referred to (`for key
-- share`), and every `for update` of that row would wait until the preview ends. A preview defers these checks to its
-- commit, which never comes; all other transactions check at once.
do $$
declare
  reference record;
begin
  for reference in
    select conrelid::regclass as name, conname
    from pg_constraint
    where contype = 'f' and not condeferrable and conparentid = 0
      and connamespace = (select oid from pg_namespace where nspname = current_schema())
    order by conrelid::regclass::text, conname
  loop
    execute format('alter table %s alter constraint %I deferrable initially immediate',
      reference.name, reference.conname);
  end loop;
end
$$;
