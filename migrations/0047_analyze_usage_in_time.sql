-- Why: Postgres analyzes a table by itself after a tenth of its rows has changed, which is 100 million events of a
-- thousand million. Until then it knows nothing of the organizations that came since, and estimates of lists stay
-- behind. Analyzing reads a sample of 30 000 rows, whatever the size.
-- Locks: the four tables, against other changes of their definition, for an instant.

alter table events set (autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 10000);
alter table usage_buckets set (autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 10000);
alter table usage_uniques set (autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 10000);
alter table fees set (autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 10000);
