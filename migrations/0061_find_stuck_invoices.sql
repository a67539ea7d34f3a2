-- Why: the job `stuck-invoices` looks every hour for invoices that never left their generation.
-- Locks: the index is built under a share lock, for seconds at most: hardly any invoice is generating at a time.
create index invoices_generating on invoices (created_at) where status = 'generating';
