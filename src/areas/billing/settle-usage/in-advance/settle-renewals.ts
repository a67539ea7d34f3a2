import type { Period } from '../../../../engine/calendar/period.ts';
import { cents } from '../../../../engine/money/cents.ts';
import { ZERO } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import type { LineFee } from '../../build-invoice/fees.ts';
import { linesOfSource } from '../../build-invoice/lines-of-source.ts';
import { renewalFees, renewedPeriod } from '../../build-invoice/renewals.ts';
import { type BilledItemKey, chargeAsBilled, isSetByHand, keyOfBilledItem } from '../billed-items.ts';
import type { IssuedFee } from '../issued-fees.ts';
import type { RepricedItem } from '../reprice.ts';
import { insertAdjustments, type NewAdjustment } from '../stored-adjustments.ts';
import { readIssued, readTerms, type Terms } from './chain-terms.ts';
import { listSettledFees } from './fees-of-events.ts';
import { listRenewals, listRenewedFees, markRenewalsSettled, type Renewal } from './opened-periods.ts';
import { type StandaloneChange, settleStandalone } from './settle-standalone-fee.ts';
import { takeTurn } from './waiting-fees.ts';

/**
 * Settles the fees on no invoice with which periods after corrected events were opened: the units carried into each are
 * counted and priced again, by what its fees were priced by. A range does so once more after each page that another
 * correction came behind.
 *
 * Rules: in-advance.md#units-of-one-event, event-corrections.md#effect "recurring metric", "in-advance, standalone
 * fee".
 */
export async function settleRenewals(ctx: Context, correction: CorrectionRow): Promise<NewAdjustment[]> {
  const renewals = await listRenewals(ctx, correction.id);
  if (renewals.length === 0) return [];
  const chargeIds = renewals.map(({ charge_id }) => charge_id);
  const terms = await readTerms(ctx, correction.external_subscription_id, chargeIds);
  const changes: StandaloneChange[] = [];
  for (const renewal of renewals) changes.push(...(await repriceRenewal(ctx, terms, renewal)));
  const settledFees = await listSettledFees(
    ctx,
    changes.flatMap(({ billedItem }) => billedItem.fee?.id ?? []),
  );
  const differing = changes.filter(
    ({ billedItem }) => isOther(billedItem) || settledFees.has(billedItem.fee?.id ?? ''),
  );
  const adjustments = await settleStandalone(ctx, correction, terms, differing);
  await insertAdjustments(ctx, correction.id, { adjustments, now: ctx.now(), turn: await takeTurn(ctx) });
  await markRenewalsSettled(ctx, correction.id, ctx.now());
  return adjustments;
}

const isOther = ({ fee, newCents, newUnits }: RepricedItem): boolean =>
  newCents !== (fee?.amount_cents ?? 0) || !newUnits.eq(fee?.units ?? ZERO);

/** Fees set by hand stay, and deleted fees stay deleted. */
async function repriceRenewal(ctx: Context, terms: Terms, renewal: Renewal): Promise<StandaloneChange[]> {
  const invoice = await readInvoice(ctx, renewal.invoice_id);
  const lines = await linesOfSource(ctx, invoice);
  const line = lines.find(({ subscription }) => subscription.id === renewal.subscription_id)!;
  const period = renewedPeriod(line);
  if (period === undefined) return [];
  const rows = await listRenewedFees(ctx, renewal, period.from);
  const live = rows.filter(({ is_live }) => is_live).map(({ id }) => id);
  const read = await readIssued(ctx, live);
  const issued = [...read.values()].filter(({ inputs }) => inputs?.window.renewed === true);
  const charge = {
    ...chargeAsBilled(terms.charges.get(renewal.charge_id)!, issued),
    // An override created since has its own charges; this charge is still billed by its own plan.
    plan_id: line.subscription.plan_id,
  };
  const made = await renewalFees(ctx, [line], [charge], 'standalone');
  const now = new Map(made.map((fee) => [keyOfFee(renewal, fee), fee]));
  const fees = new Map(issued.map((each) => [keyOfIssued(renewal, each), each]));
  const takenAway = new Set(rows.filter(({ is_live }) => !is_live).map((row) => keyOfBilledItem(keyOf(renewal, row))));
  return [...new Set([...fees.keys(), ...now.keys()])].flatMap((name): StandaloneChange[] => {
    const own = fees.get(name);
    if (own === undefined ? takenAway.has(name) : isSetByHand(own)) return [];
    const again = now.get(name);
    return [{ billedItem: billedItemOf(renewal, period, own?.fee, again), takenOffId: null, again: () => again }];
  });
}

const keyOf = (
  { subscription_id, charge_id }: Renewal,
  of: Pick<BilledItemKey, 'charge_filter_id' | 'grouped_by'>,
) => ({
  subscription_id,
  kind: 'usage' as const,
  charge_id,
  charge_filter_id: of.charge_filter_id,
  grouped_by: of.grouped_by,
});

const keyOfIssued = (renewal: Renewal, { fee }: IssuedFee): string => keyOfBilledItem(keyOf(renewal, fee));

const keyOfFee = (renewal: Renewal, { charge_filter_id, groupedBy: grouped_by }: LineFee): string =>
  keyOfBilledItem(keyOf(renewal, { charge_filter_id, grouped_by }));

/** A fee, its price now, or both: at least one is present. */
function billedItemOf(
  renewal: Renewal,
  window: Period,
  fee: IssuedFee['fee'] | undefined,
  again: LineFee | undefined,
): RepricedItem {
  const place = fee ?? { charge_filter_id: again!.charge_filter_id, grouped_by: again!.groupedBy };
  return {
    ...keyOf(renewal, place),
    window,
    displayName: fee === undefined ? again!.item.displayName : (fee.invoice_display_name ?? fee.item_name),
    fee,
    newCents: again?.amountCents ?? cents(0),
    newUnits: again?.units ?? ZERO,
  };
}
