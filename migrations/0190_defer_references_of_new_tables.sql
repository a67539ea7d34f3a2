-- Why: a preview defers the checks of its references, and no statement depends on which organization rows of the new
--   tables belong to (0057).
-- Locks: each of these tables for a moment.

alter table ai_subjects alter constraint ai_subjects_organization_id_fkey deferrable;
alter table budget_entries alter constraint budget_entries_organization_id_fkey deferrable;
alter table budget_hold_parts alter constraint budget_hold_parts_hold_id_fkey deferrable;
alter table budget_hold_parts alter constraint budget_hold_parts_organization_id_fkey deferrable;
alter table budget_holds alter constraint budget_holds_organization_id_fkey deferrable;
alter table budget_windows alter constraint budget_windows_budget_id_fkey deferrable;
alter table budget_windows alter constraint budget_windows_organization_id_fkey deferrable;
alter table budgets alter constraint budgets_customer_id_fkey deferrable;
alter table budgets alter constraint budgets_organization_id_fkey deferrable;
alter table console_codes alter constraint console_codes_api_key_id_fkey deferrable;
alter table console_identities alter constraint console_identities_api_key_id_fkey deferrable;
alter table console_identities alter constraint console_identities_organization_id_fkey deferrable;
alter table console_identities alter constraint console_identities_session_id_fkey deferrable;

alter table ai_subjects alter column organization_id set statistics 0;
alter table budgets alter column organization_id set statistics 0;
alter table budget_windows alter column organization_id set statistics 0;
alter table budget_entries alter column organization_id set statistics 0;
alter table budget_holds alter column organization_id set statistics 0;
alter table budget_hold_parts alter column organization_id set statistics 0;
