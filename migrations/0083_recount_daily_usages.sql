-- Why: the snapshot of a period's last day is made right while its invoice may still change; analytics count it again then.
-- Locks: daily_usages for its trigger, for an instant.
create trigger daily_usages_mark_changed after update on daily_usages
  referencing new table as new_rows for each statement execute function mark_new_daily_usages();
