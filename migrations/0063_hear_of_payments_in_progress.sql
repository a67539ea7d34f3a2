-- Why: a page that was paid by a bank debit stays in progress for days, and Stripe sent no event of that. Its
--   connections register our address again, with the event that a payment is in progress; the daily check does it.
-- Locks: the rows of Stripe connections for an instant.

update payment_providers set inbound_owed_at = now()
where provider_type = 'stripe' and deleted_at is null and inbound_endpoint_id is not null;
