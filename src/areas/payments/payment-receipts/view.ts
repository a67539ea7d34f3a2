import { seconds } from '../../../platform/schema/view.ts';
import { missingOf } from '../../messaging/documents/missing-characters.ts';
import type { PaymentRow } from '../payments/queries.ts';
import { paymentView } from '../payments/view.ts';
import type { ReceiptRow } from './queries.ts';
import type { ReceiptView } from './schema.ts';

/** A receipt as the API shows it; `fileUrl` once its document has been drawn. Rule: payments.md#receipts. */
export const receiptView = (row: ReceiptRow, payment: PaymentRow, fileUrl: string | null): ReceiptView => ({
  svc_id: row.id,
  number: row.number,
  file_url: fileUrl,
  xml_url: null,
  ...missingOf(row.missing_characters),
  payment: paymentView(payment),
  ...(payment.reversed_at === null ? {} : { reversed_at: seconds(payment.reversed_at) }),
  created_at: seconds(row.created_at),
});
