-- Why: hours of calls of language models become one row a day and group once they are old (margins.md#sums). The job
--   that folds them finds them by this index, which has no row of those that are folded.
-- Locks: ai_usage_hours against writes while the index is built: 2 s for a million rows.

create index ai_usage_hours_age on ai_usage_hours (hour) where (hour at time zone 'UTC')::time <> '00:00';
