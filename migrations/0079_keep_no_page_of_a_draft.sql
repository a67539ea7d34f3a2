-- Why: a mail of an invoice that was not final had its page drawn as the invoice's own, which is kept for good, so the
--   final invoice was handed out with the provisional number and amounts. Such a page now belongs to its mail, also the
--   pages that were drawn before. Electronic documents of drafts are no longer made: those that are not handed out go.
-- Locks: documents and e_documents while their rows are read once, without their contents.

alter table documents drop constraint documents_kind_check;
alter table documents add constraint documents_kind_check check (kind in (
  'invoice', 'credit_note', 'payment_receipt', 'order_form', 'invoice_xml', 'credit_note_xml', 'mailed_draft'));
comment on table documents is
  'Rendered documents (PDF and XML), one per kind and subject, kept as they were first handed out. '
  'No content yet: being made. The subject of a mailed_draft is the mail that it was drawn for.';

update documents page set kind = 'mailed_draft', subject_id = first.mail_id
from (
  select document_id, min(id::text)::uuid as mail_id from mails where document_id is not null group by document_id
) first
where page.kind = 'invoice' and page.file_name like '%-DRAFT.pdf' and first.document_id = page.id;

delete from e_documents where number like '%-DRAFT' and content is null;
-- Not valid: a document that was handed out is kept as it is.
alter table e_documents add constraint e_documents_number_is_final check (number not like '%-DRAFT') not valid;
