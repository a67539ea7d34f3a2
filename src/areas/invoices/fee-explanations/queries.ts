import type { Temporal } from 'temporal-polyfill';
import { type OwnInputs, type SharedInputs, wholeInputs } from '../../../engine/explain/shared-inputs.ts';
import type { StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import type { Db } from '../../../platform/db/connect.ts';
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
export async function listFeeInputs({ db, organizationId }: Scope, feeIds: readonly FeeId[]): Promise<FeeInputsRow[]> {
  const rows = await db<(Omit<FeeInputsRow, 'inputs'> & StoredInParts)[]>`
    select stored.fee_id, stored.engine_version, stored.inputs, keeper.shared_inputs, stored.digest,
      stored.events_watermark, stored.created_at
    from fee_inputs stored
    ${keeperOf(db)}
    where stored.organization_id = ${organizationId} and stored.fee_id = any (${feeIds}::uuid[])`;
  return rows.map(({ shared_inputs, ...row }) => ({ ...row, inputs: wholeInputs(row.inputs, shared_inputs) }));
}

/** Inputs as they are stored: put together by `wholeInputs`. Rule: invoice-verification.md#shared-inputs. */
export interface StoredInParts {
  inputs: OwnInputs;
  shared_inputs: SharedInputs | null;
}

/** Joins `keeper`, the row that keeps what `stored` has in common with other fees. */
export const keeperOf = (db: Db) => db`
  left join fee_inputs keeper on keeper.organization_id = stored.organization_id
    and keeper.fee_id = stored.shared_with`;

export async function findInvoiceStatus(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId | null,
): Promise<string | null> {
  if (invoiceId === null) return null;
  const [row] = await db<{ status: string }[]>`
    select status from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row?.status ?? null;
}
