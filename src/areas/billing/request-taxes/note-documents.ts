import { cents } from '../../../engine/money/cents.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import { linesToSend } from '../../../engine/taxes/provider/lines-to-send.ts';
import type { IntegrationId } from '../../../platform/ids.ts';
import type { TaxDocument } from '../../../platform/taxes/port.ts';
import type { NoteToReport } from './reported-records.ts';

/**
 * The documents of a note: one for each engine that has recorded what the note gives back, with negative lines. Buyer,
 * seller and products are those of the record, so that the engine takes back what it holds, wherever the customer is
 * or is linked to by now.
 *
 * Rule: tax-engines.md#one-record.
 */
export function documentsOfNote(
  documentKey: string,
  { items, records, issuing_date, sub_total_excluding_taxes_amount_cents: netTotalCents }: NoteToReport,
): { integrationId: IntegrationId; document: TaxDocument }[] {
  const itemOf = new Map(items.map((item) => [item.id, item]));
  const lines = linesToSend(
    items.map((item) => ({
      key: item.id,
      amountCents: cents(item.amount_cents),
      preciseAmountCents: item.precise_amount_cents,
      preciseCouponsAmountCents: item.precise_coupons_amount_cents,
    })),
    cents(netTotalCents),
  );
  const products = new Map(
    [...records].map(([id, { document }]) => [id, new Map(document.lines.map((line) => [line.id, line.productId]))]),
  );
  const documents = new Map<IntegrationId, TaxDocument>();
  for (const { key, netCents } of lines) {
    const { record_id: recordId, fee_id, item_code, units } = itemOf.get(key)!;
    const record = recordId === null ? undefined : records.get(recordId);
    if (recordId === null || !record) continue;
    const { timezone, currency, customer, seller } = record.document;
    const blank = { id: documentKey, date: issuing_date.toString(), timezone, currency, customer, seller, lines: [] };
    const document: TaxDocument = documents.get(record.integration_id) ?? blank;
    const productId = products.get(recordId)?.get(fee_id) ?? item_code;
    document.lines.push({ id: key, productId, quantity: decimalText(units), netCents: -netCents });
    documents.set(record.integration_id, document);
  }
  return [...documents].map(([integrationId, document]) => ({ integrationId, document }));
}
