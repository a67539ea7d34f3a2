-- Why: a recurring rule of a wallet may say that the invoices of its top-ups bear no custom section; null says nothing, and
-- the wallet's own word holds. Which sections it selects stands in invoice_custom_section_selections.
-- Locks: recurring_transaction_rules for an instant, to add a column that is null.
alter table recurring_transaction_rules add column skip_invoice_custom_sections boolean;
