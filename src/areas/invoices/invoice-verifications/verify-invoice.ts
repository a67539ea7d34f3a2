import type { ExplainedFee } from '../../../engine/explain/explain-fee.ts';
import type { StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import { cents } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { ENGINE_VERSION } from '../../../engine/version.ts';
import { canonicalDigest } from '../../../platform/canonical-json.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { explainOrNot } from '../fee-explanations/explain-fees.ts';
import { type FeeInputsRow, listFeeInputs } from '../fee-explanations/queries.ts';
import { type FeeRow, listFeesOfInvoice } from '../fees/queries.ts';
import type { InvoiceRow } from '../invoices/queries.ts';
import { type Comparison, causeOf, newComparison } from './differences.ts';
import { findInvoiceInputs, type InvoiceInputsRow } from './queries.ts';
import type { Difference, Verification, VerificationLevel } from './schema.ts';
import { type TotalledFee, type Totals, totalsOf } from './totals-of-invoice.ts';
import { readSince, type Since, verifyEvents } from './verify-events.ts';

/**
 * How many added events of a window are counted at level `inputs`, which answers at once: some tens of milliseconds.
 * More are counted at level `events`.
 */
const MOST_ADDED_AT_ONCE = 100_000;

/**
 * Computes an issued invoice again. Reads only.
 *
 * isLarge whether looking for what arrived later would read many events; at level `inputs` it is then left unknown
 */
export async function verify(
  ctx: Context,
  invoice: InvoiceRow,
  { level, isLarge }: { level: VerificationLevel; isLarge: boolean },
): Promise<Verification> {
  const fees = await listFeesOfInvoice(ctx, invoice.id);
  const ids = fees.map(({ id }) => id);
  const [inputs, whole] = [await listFeeInputs(ctx, ids), await findInvoiceInputs(ctx, invoice.id)];
  const stored = new Map(inputs.map((row) => [row.fee_id, row]));
  const comparison = newComparison();
  const checked = fees.map((fee) => verifyFee(comparison, fee, stored.get(fee.id)));
  if (whole === undefined) comparison.notVerified.push({ path: 'inputs', reason: 'inputs_not_stored' });
  else verifyTotals(comparison, invoice, { row: whole, fees, checked });
  if (level === 'events') await verifyEvents(ctx, comparison, { fees, stored });
  const since = await sinceOf(ctx, { fees, stored, level, isLarge });
  return {
    svc_id: newId(),
    svc_invoice_id: invoice.id,
    level,
    status: statusOf(comparison),
    engine_version: { stored: whole?.engine_version ?? null, current: ENGINE_VERSION },
    compared: { fees: fees.length, amounts: comparison.amounts },
    differences: comparison.differences,
    not_verified: comparison.notVerified,
    since,
    verified_at: seconds(ctx.now()),
  };
}

async function sinceOf(
  ctx: Context,
  {
    level,
    isLarge,
    ...of
  }: { fees: readonly FeeRow[]; stored: ReadonlyMap<string, FeeInputsRow>; level: VerificationLevel; isLarge: boolean },
): Promise<Since | null> {
  if (level === 'events') return readSince(ctx, of);
  return isLarge ? null : readSince(ctx, of, MOST_ADDED_AT_ONCE);
}

const statusOf = ({ differences, notVerified }: Comparison): Verification['status'] => {
  if (differences.length > 0) return 'different';
  return notVerified.length > 0 ? 'not_verifiable' : 'equal';
};

/** Compares a fee with the amount of its inputs; undefined if they are not stored. */
function verifyFee(comparison: Comparison, fee: FeeRow, row: FeeInputsRow | undefined): ExplainedFee | undefined {
  const path = `fees[${fee.id}]`;
  const explained = row && explainOrNot(row.inputs);
  if (row === undefined || explained === undefined) {
    comparison.notVerified.push({ path, reason: 'inputs_not_stored' });
    return undefined;
  }
  const isDigestRight = verifyDigest(comparison, `${path}.inputs`, row);
  const { computed, tail } = explained;
  const cause = causeOf(row.engine_version, isDigestRight);
  comparison.compare(`${path}.amount_cents`, fee.amount_cents, computed.amountCents, cause);
  comparison.compare(`${path}.precise_amount_cents`, fee.precise_amount_cents, computed.preciseAmountCents, cause);
  comparison.compare(`${path}.units`, fee.units, computed.units, cause);
  comparison.compare(
    `${path}.precise_coupons_amount_cents`,
    fee.precise_coupons_amount_cents,
    tail.preciseCouponsAmountCents,
    cause,
  );
  comparison.compare(`${path}.taxes_amount_cents`, fee.taxes_amount_cents, tail.taxesAmountCents, cause);
  compareTaxes(comparison, path, {
    stored: fee.applied_taxes,
    computed: new Map(tail.appliedTaxes.map(({ tax, amountCents }) => [tax.code, amountCents])),
    cause,
  });
  return explained;
}

function verifyDigest(
  comparison: Comparison,
  path: string,
  { inputs, digest }: { inputs: StoredFeeInputs | InvoiceInputsRow['inputs']; digest: Buffer },
): boolean {
  const computed = canonicalDigest(inputs);
  comparison.amounts += 1;
  if (computed.equals(digest)) return true;
  comparison.differs(path, digest.toString('hex'), computed.toString('hex'), 'inputs_digest_mismatch');
  return false;
}

function compareTaxes(
  comparison: Comparison,
  path: string,
  {
    stored,
    computed,
    cause,
  }: {
    stored: readonly { tax_code: string; amount_cents: number }[];
    computed: ReadonlyMap<string, number>;
    cause: Difference['cause'];
  },
): void {
  const storedByCode = new Map(stored.map(({ tax_code, amount_cents }) => [tax_code, amount_cents]));
  for (const code of new Set([...storedByCode.keys(), ...computed.keys()]))
    comparison.compare(
      `${path === '' ? '' : `${path}.`}applied_taxes[${code}].amount_cents`,
      storedByCode.get(code) ?? null,
      computed.get(code) ?? null,
      cause,
    );
}

/** Compares the totals with the steps over the fees as they were computed, then over the fees as they are stored. */
function verifyTotals(
  comparison: Comparison,
  invoice: InvoiceRow,
  {
    row,
    fees,
    checked,
  }: { row: InvoiceInputsRow; fees: readonly FeeRow[]; checked: readonly (ExplainedFee | undefined)[] },
): void {
  const cause = causeOf(row.engine_version, verifyDigest(comparison, 'inputs', row));
  const byInputs = totalsOf(
    invoice.invoice_type,
    fees.map((fee, index) => computedFee(checked[index]) ?? storedFee(fee)),
    row.inputs,
  );
  const byRows = totalsOf(invoice.invoice_type, fees.map(storedFee), row.inputs);
  for (const { totals } of [byInputs, byRows])
    for (const [name, computed] of Object.entries(totals) as [keyof Totals, number][])
      comparison.compare(name, invoice[name], computed, cause);
  if (invoice.invoice_type !== 'advance_charges')
    compareTaxes(comparison, '', { stored: invoice.applied_taxes, computed: byInputs.taxes, cause });
}

function computedFee(explained: ExplainedFee | undefined): TotalledFee | undefined {
  if (explained === undefined) return undefined;
  const { computed, tail } = explained;
  return {
    amountCents: computed.amountCents,
    preciseAmountCents: computed.preciseAmountCents,
    preciseCouponsAmountCents: tail.preciseCouponsAmountCents,
    taxesAmountCents: tail.taxesAmountCents,
    taxes: tail.appliedTaxes.map(({ tax }) => tax),
    ...(tail.appliedTaxes.some(({ baseRate }) => baseRate !== undefined) ? { collected: tail.appliedTaxes } : {}),
  };
}

const storedFee = (fee: FeeRow): TotalledFee => ({
  amountCents: cents(fee.amount_cents),
  preciseAmountCents: fee.precise_amount_cents,
  preciseCouponsAmountCents: fee.precise_coupons_amount_cents,
  taxesAmountCents: cents(fee.taxes_amount_cents),
  taxes: fee.applied_taxes.map(storedTax),
  ...(fee.applied_taxes.some(({ base_rate }) => base_rate !== null) ? { collected: collectedOf(fee) } : {}),
});

const storedTax = ({ tax_code, tax_name, tax_rate }: FeeRow['applied_taxes'][number]) => ({
  id: tax_code,
  code: tax_code,
  name: tax_name,
  description: null,
  rate: decimal(tax_rate),
});

const collectedOf = (fee: FeeRow) =>
  fee.applied_taxes.map((tax) => ({
    tax: storedTax(tax),
    amountCents: cents(tax.amount_cents),
    preciseAmountCents: decimal(tax.amount_cents),
  }));
