import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { MissingCharacters } from '../../messaging/documents/missing-characters.ts';
import { PaymentView } from '../payments/schema.ts';

export const ReceiptView = z.object({
  svc_id: z.uuid(),
  number: z.string(),
  file_url: z.string().nullable(),
  missing_characters: MissingCharacters,
  xml_url: z.string().nullable(),
  payment: PaymentView,
  /** When the money was taken back; absent while it was not. */
  reversed_at: z.string().optional(),
  created_at: z.string(),
});
export type ReceiptView = z.infer<typeof ReceiptView>;

export const ReceiptEnvelope = z.object({ payment_receipt: ReceiptView });
export const ReceiptList = z.object({ payment_receipts: z.array(ReceiptView), meta: PageMeta });
export const ReceiptsQuery = z.object({
  ...pageQuery,
  invoice_id: textFilter,
});
export type ReceiptsQuery = z.infer<typeof ReceiptsQuery>;
