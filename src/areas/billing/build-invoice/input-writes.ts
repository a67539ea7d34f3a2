import type { Temporal } from 'temporal-polyfill';
import { ownInputs, sharedInputs } from '../../../engine/explain/shared-inputs.ts';
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
  /** The same for fees whose inputs have much in common. */
  alike?: string;
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

/**
 * What every amount of a fee was computed from. The first fee of a group keeps what all of them have in common.
 * Rules: invoice-verification.md#stored-inputs, invoice-verification.md#shared-inputs.
 */
export async function insertFeeInputs(
  db: Db,
  owner: FeeOwner,
  { fees, now }: { fees: readonly StoredInputs[]; now: Temporal.Instant },
): Promise<void> {
  const rows = inGroups(fees).flatMap((group) => {
    const shared = group.length > 1 ? sharedInputs(group.map(({ inputs }) => inputs)) : undefined;
    return group.map(({ feeId, inputs, watermark }, index) => ({
      fee_id: feeId,
      inputs: shared === undefined ? inputs : ownInputs(inputs, shared),
      shared_with: shared === undefined ? null : group[0]!.feeId,
      shared_inputs: index > 0 ? null : shared,
      digest: digestOf(inputs).toString('hex'),
      events_watermark: watermark,
    }));
  });
  await db`
    insert into fee_inputs (fee_id, organization_id, engine_version, inputs, shared_with, shared_inputs, digest,
      events_watermark, created_at)
    select fee_id, ${owner.organizationId}::uuid, ${ENGINE_VERSION}::integer, inputs, shared_with, shared_inputs,
      decode(digest, 'hex'), events_watermark, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as input (fee_id uuid, inputs jsonb, shared_with uuid,
      shared_inputs jsonb, digest text, events_watermark jsonb)`;
}

/** Fees by what they probably have in common; one without such a name is on its own. */
function inGroups(fees: readonly StoredInputs[]): StoredInputs[][] {
  const groups = new Map<string, StoredInputs[]>();
  for (const fee of fees) {
    const group = groups.get(fee.alike ?? fee.feeId) ?? [];
    group.push(fee);
    groups.set(fee.alike ?? fee.feeId, group);
  }
  return [...groups.values()];
}
