import type { Temporal } from 'temporal-polyfill';
import type { StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { FeeId, InvoiceId } from '../../../platform/ids.ts';
import type { Watermark } from '../../usage/usage-counts/watermarks.ts';

/** What is stored beside a fee. Rule: invoice-verification.md#stored-inputs. */
export interface FeeInputsRow {
  fee_id: FeeId;
  engine_version: number;
  inputs: StoredFeeInputs;
  digest: Buffer;
  events_watermark: Watermark | null;
  created_at: Temporal.Instant;
}

/** Stored inputs of fees, in no particular order; none of imported ones. */
export const listFeeInputs = ({ db, organizationId }: Scope, feeIds: readonly FeeId[]) => db<FeeInputsRow[]>`
  select fee_id, engine_version, inputs, digest, events_watermark, created_at from fee_inputs
  where organization_id = ${organizationId} and fee_id = any (${feeIds}::uuid[])`;

export async function findInvoiceStatus(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId | null,
): Promise<string | null> {
  if (invoiceId === null) return null;
  const [row] = await db<{ status: string }[]>`
    select status from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row?.status ?? null;
}
