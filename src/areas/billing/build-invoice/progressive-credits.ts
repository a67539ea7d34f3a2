import {
  type ProgressiveCredit,
  type ProgressiveInvoice,
  progressiveCredit,
} from '../../../engine/invoices/progressive-credit.ts';
import { creditOfNote, givenThrough, restsOfFees } from '../../../engine/invoices/progressive-rest.ts';
import type { CreditableFee } from '../../../engine/invoices/take-over.ts';
import { cents } from '../../../engine/money/cents.ts';
import { decimal, sum } from '../../../engine/money/decimal.ts';
import { canonicalJson } from '../../../platform/canonical-json.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, FeeId, InvoiceId } from '../../../platform/ids.ts';
import { progressivePartsOf } from '../../invoices/fees/queries.ts';
import type { LineFee } from './fees.ts';
import type { BilledLine } from './lines.ts';
import {
  type AskedWindow,
  listProgressiveInvoices,
  notedInvoice,
  type ProgressiveFeeRow,
  type Replaced,
  readEarlier,
  readReplaced,
} from './progressive-invoices.ts';

/**
 * What progressive invoices credit to the windows that fees or lines bill, for drafts too each time they are computed.
 * Fees of single events were never on a progressive invoice. Reads only.
 *
 * madeAnewFrom  for an invoice that is made anew: the voided one
 *
 * Rule: progressive-billing.md#credit-on-later-invoices.
 */
export async function progressiveCredits(
  ctx: Context,
  customerId: CustomerId,
  fees: readonly LineFee[],
  { lines: billed = [], madeAnewFrom }: { lines?: readonly BilledLine[]; madeAnewFrom?: InvoiceId | undefined } = {},
): Promise<ProgressiveCredit[]> {
  const lines = new Map<BilledLine, LineFee[]>(
    billed.filter(({ usageWindow }) => usageWindow !== undefined).map((line) => [line, []]),
  );
  for (const fee of fees) {
    if (fee.charge === undefined || fee.inAdvance !== undefined || fee.correction !== undefined) continue;
    if (fee.line.usageWindow === undefined) continue;
    const own = lines.get(fee.line);
    if (own) own.push(fee);
    else lines.set(fee.line, [fee]);
  }
  if (lines.size === 0) return [];
  const asked = [...lines.keys()];
  const copiedIds = fees.flatMap(({ facts }) => (facts?.kind === 'copied' ? [facts.fee_id as FeeId] : []));
  const found = await readNewest(
    ctx,
    customerId,
    asked.map((line, position) => ({
      position,
      subscription_id: line.subscription.id,
      at: line.usageWindow!.from.toString(),
    })),
    madeAnewFrom === undefined ? undefined : await readReplaced(ctx, madeAnewFrom, copiedIds),
  );
  return found.map(({ position, invoice }) =>
    progressiveCredit(invoice, lines.get(asked[position]!)!.map(creditableOf)),
  );
}

/** The newest progressive invoice of each requested window. Rule: progressive-billing.md#credit-in-steps. */
async function readNewest(
  ctx: Context,
  customerId: CustomerId,
  asked: readonly AskedWindow[],
  replaced: Replaced | undefined,
): Promise<{ position: number; invoice: ProgressiveInvoice }[]> {
  const rows = await listProgressiveInvoices(ctx, customerId, asked, replaced);
  const { standsFor, earlier } = await readEarlier(ctx, rows, replaced);
  return rows.map((row) => {
    const noted = notedInvoice(row, standsFor);
    const through = givenThrough(noted.fees, earlier);
    const rests = restsOfFees(noted, progressivePartsOf(row.drawn), through);
    const own = row.fees.flatMap(({ id }) => through.get(id) ?? []);
    const withheld = [...rests.values()].map(({ noted: { withheldCents } }) => withheldCents);
    const noteCredits = noted.notes.map((note) => creditOfNote(note, noted.fees));
    const given = sum([
      ...noteCredits,
      ...own.map(({ creditCents, taxesCents }) => creditCents.plus(taxesCents)),
      ...withheld,
    ]);
    return {
      position: row.position,
      invoice: {
        id: row.id,
        leftCents: decimal(row.left_cents).minus(given),
        fees: row.fees.map((fee) => ({ id: fee.id, ...creditable(fee), ...rests.get(fee.id)! })),
      },
    };
  });
}

const creditable = (
  fee: Pick<ProgressiveFeeRow, 'charge_id' | 'charge_filter_id' | 'grouped_by' | 'amount_cents'>,
): CreditableFee => ({
  chargeId: fee.charge_id,
  usageKey: canonicalJson([fee.charge_id, fee.charge_filter_id, fee.grouped_by]),
  amountCents: cents(fee.amount_cents),
});

const creditableOf = (fee: LineFee): CreditableFee & { key: string } => ({
  key: fee.id,
  ...creditable({
    charge_id: fee.charge!.id,
    // A true-up has no usage of its own.
    charge_filter_id: fee.true_up_parent_fee_id === null ? fee.charge_filter_id : fee.id,
    grouped_by: fee.groupedBy,
    amount_cents: fee.amountCents,
  }),
});
