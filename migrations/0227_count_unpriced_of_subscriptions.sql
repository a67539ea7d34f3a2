-- Why: usage and fees say how many of their calls have no amount (price-book.md#unknown-models).
-- Locks: ai_unpriced against writes while the index of its open rows is built: below a second for 100 000 of them.

create index ai_unpriced_waiting on ai_unpriced (organization_id, external_subscription_id, event_timestamp)
  where status = 'open';
