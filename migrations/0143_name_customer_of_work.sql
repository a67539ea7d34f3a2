-- Why: of one customer two jobs run at once, since they lock the same rows; an after-step names a record, and its job has
-- to name the record's customer. The statement that writes or takes the step asks here, so it costs no round trip.
-- Locks: none, it creates a function.

-- Customer of the record that a payload of owed work names; null where it names none of one customer.
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
