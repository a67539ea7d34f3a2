-- Why: whether a failed invoice is tried again by itself was decided by matching the free text of its error, which a
-- provider may word anew. The reason is now a code of our own.
-- Rewrites the rows of the table, a few a failed invoice, and locks it meanwhile.
alter table invoice_error_details add column reason text
  constraint invoice_error_details_reason_known
  check (reason in ('api_limit', 'number_not_assigned', 'amount_out_of_range'));
update invoice_error_details set reason = case
  when error_code = 'tax_error' and details::text ~* 'limit' then 'api_limit'
  when error_code = 'invoice_generation_error' and details ? 'number' then 'number_not_assigned'
  when error_code = 'invoice_generation_error' then 'amount_out_of_range' end;
comment on column invoice_error_details.reason is
  'What decides whether the invoice is tried again by itself; null: a person has to look.';
