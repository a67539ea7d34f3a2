import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CustomerId,
  DocumentId,
  InvoiceId,
  PaymentId,
  PaymentReceiptId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { missingCharacters } from '../../messaging/documents/missing-characters.ts';

export interface ReceiptRow {
  id: PaymentReceiptId;
  payment_id: PaymentId;
  customer_id: CustomerId;
  billing_entity_id: BillingEntityId;
  number: string;
  created_at: Temporal.Instant;
  /** Its document, once it has been drawn. */
  document_id: DocumentId | null;
  missing_characters: string | null;
}

const columns = (db: Db) => db`
  receipt.id, receipt.payment_id, receipt.customer_id, receipt.billing_entity_id, receipt.number, receipt.created_at,
  (select document.id from documents document
   where document.organization_id = receipt.organization_id and document.kind = 'payment_receipt'
     and document.subject_id = receipt.id and document.content is not null) as document_id,
  ${missingCharacters(db, 'payment_receipt', 'receipt')}`;

/** @throws Refusal 404 payment_receipt */
export async function getReceipt({ db, organizationId }: Scope, id: PaymentReceiptId): Promise<ReceiptRow> {
  const [row] = isUuid(id)
    ? await db<ReceiptRow[]>`
      select ${columns(db)} from payment_receipts receipt
      where receipt.organization_id = ${organizationId} and receipt.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('payment_receipt');
  return row;
}

/** A page of receipts, newest first, and how many there are. */
export async function listReceipts(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId | undefined,
  page: Page,
): Promise<{ rows: ReceiptRow[]; totalCount: Total }> {
  const { limit, offset } = limitOf(page);
  const passing = db`receipt.organization_id = ${organizationId}
    ${
      invoiceId === undefined
        ? db``
        : db`and exists (select from payment_invoices share where share.organization_id = receipt.organization_id
            and share.payment_id = receipt.payment_id and share.invoice_id = ${invoiceId})`
    }`;
  const [rows, totalCount] = await Promise.all([
    db<ReceiptRow[]>`
      select ${columns(db)} from payment_receipts receipt where ${passing}
      order by receipt.created_at desc, receipt.id desc
      limit ${limit} offset ${offset}`,
    countRecords(db, db`payment_receipts receipt where ${passing}`),
  ]);
  return { rows, totalCount };
}
