import type { Temporal } from 'temporal-polyfill';
import { ENGINE_VERSION } from '../../../engine/version.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { digestOf } from './fee-inputs.ts';
import type { FeeOwner, InvoiceOwner } from './writes.ts';

export interface StoredInputs {
  feeId: FeeId;
  inputs: object;
  watermark: object | null;
}

/** What the totals of an invoice were computed from. Rule: invoice-verification.md#stored-inputs "invoice level". */
export const insertInvoiceInputs = (
  db: Db,
  owner: Pick<InvoiceOwner, 'organizationId' | 'invoiceId'>,
  { invoice, now }: { invoice: object; now: Temporal.Instant },
) => db`
  insert into invoice_inputs (invoice_id, organization_id, engine_version, inputs, digest, created_at)
  values (${owner.invoiceId}, ${owner.organizationId}, ${ENGINE_VERSION}, ${json(invoice)}, ${digestOf(invoice)},
    ${now})`;

/** What every amount of a fee was computed from. Rule: invoice-verification.md#stored-inputs. */
export async function insertFeeInputs(
  db: Db,
  owner: FeeOwner,
  { fees, now }: { fees: readonly StoredInputs[]; now: Temporal.Instant },
): Promise<void> {
  const rows = fees.map(({ feeId, inputs, watermark }) => ({
    fee_id: feeId,
    inputs,
    digest: digestOf(inputs).toString('hex'),
    events_watermark: watermark,
  }));
  await db`
    insert into fee_inputs (fee_id, organization_id, engine_version, inputs, digest, events_watermark, created_at)
    select fee_id, ${owner.organizationId}::uuid, ${ENGINE_VERSION}::integer, inputs, decode(digest, 'hex'),
      events_watermark, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as input (fee_id uuid, inputs jsonb, digest text,
      events_watermark jsonb)`;
}
