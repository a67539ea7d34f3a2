-- Why: the documents that were issued in a period are read page by page, in the order of their issue, for an export.
--   Without an index every page would read all documents of all organizations.
-- Locks: e_documents for writing, for as long as it takes to read the dates of its rows, which are short: contents are
--   stored apart.

create index e_documents_issued on e_documents (organization_id, issued_on, id) where status = 'ready';
