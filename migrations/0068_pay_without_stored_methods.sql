-- Why: some customers store no method: they transfer the money to an account that their provider names, or pay on a
--   page. A transfer waits for its customer, so it ends when another amount is due; and that a customer has to act is
--   announced once for an invoice.
-- Locks: payments and invoices for an instant; the default is a constant, so nothing is rewritten.

alter table payments add column is_transfer boolean not null default false;
comment on column payments.is_transfer is
  'The customer transfers the money to an account that the provider names; no stored method is charged.';

alter table invoices add column action_required_at timestamptz;
comment on column invoices.action_required_at is
  'When it was announced that nothing can be charged, because the customer pays on a page only.';
