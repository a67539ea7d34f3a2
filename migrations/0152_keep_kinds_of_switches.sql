-- Whether a change of plan was an upgrade was worked out from what both plans cost today: a later amount turned an old
-- upgrade into a downgrade, and a draft of its invoice billed other windows. The kind is now kept with the record that
-- takes over, as it was when the change was made.
-- An upgrade starts at the instant at which its record is made, a downgrade waits for the end of the period: that tells
-- which the stored ones were, whatever their plans cost by now.
-- Rewrites the rows that follow another and checks all: locks subscriptions against writes for about a second a million.
alter table subscriptions add column switch_kind text
  constraint subscriptions_switch_kind_known check (switch_kind in ('upgrade', 'downgrade'));
update subscriptions set switch_kind = case when started_at = created_at then 'upgrade' else 'downgrade' end
  where previous_subscription_id is not null;
alter table subscriptions add constraint subscriptions_switch_has_kind
  check ((switch_kind is null) = (previous_subscription_id is null));
