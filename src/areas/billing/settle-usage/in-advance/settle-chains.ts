import { cents } from '../../../../engine/money/cents.ts';
import { ZERO } from '../../../../engine/money/decimal.ts';
import { canonicalJson } from '../../../../platform/canonical-json.ts';
import type { Context } from '../../../../platform/context.ts';
import type { InvoiceId } from '../../../../platform/ids.ts';
import { type FeeRow, listFeesByIds } from '../../../invoices/fees/queries.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import { attemptOfEarlier } from '../attempt-or-undo.ts';
import type { BilledItemKey } from '../billed-items.ts';
import { inRange } from '../in-range.ts';
import { listInPlace } from '../issued-fees.ts';
import { lockInvoice, readState } from '../periods-to-settle.ts';
import type { RepricedItem } from '../reprice.ts';
import { settleItems } from '../settle-invoice.ts';
import { listSettled } from '../settled-items.ts';
import { insertAdjustments, type NewAdjustment } from '../stored-adjustments.ts';
import { readTerms } from './chain-terms.ts';
import { listSettledFees } from './fees-of-events.ts';
import { type RepricedEvent, repriceChain } from './reprice-chain.ts';
import { changeOfEvent, type StandaloneChange, settleStandalone } from './settle-standalone-fee.ts';
import { listChains, markChainsSettled } from './stored-chains.ts';
import {
  type FeeToSettle,
  hasWaiting,
  insertWaitingFees,
  listIssuedTurns,
  listWaitedFor,
  markFeeSettled,
  type PricedPlace,
  takeTurn,
  type WaitingFee,
} from './waiting-fees.ts';

/**
 * Settles the fees of events that were billed in advance: the chains that a correction has changed are repriced, and
 * each fee that differs is settled. One whose invoice is not issued yet waits at its price of now, and corrections that
 * wait for the same fee settle it in turn.
 *
 * @returns whether it waits for nothing more
 * Rules: event-corrections.md#effect "in-advance event", "in-advance, standalone fee",
 * event-corrections.md#corrections-that-wait.
 */
export async function settleChains(
  ctx: Context,
  correction: CorrectionRow,
): Promise<{ isSettled: boolean; adjustments: NewAdjustment[] }> {
  const adjustments = [...(await settleChanged(ctx, correction)), ...(await settleIssuedTurns(ctx, correction))];
  return { isSettled: !(await hasWaiting(ctx, correction.id)), adjustments };
}

/** Settles the chains that a correction has marked. */
export async function settleChanged(ctx: Context, correction: CorrectionRow): Promise<NewAdjustment[]> {
  const chains = await listChains(ctx, correction.id);
  if (chains.length === 0) return [];
  const chargeIds = chains.map(({ charge_id }) => charge_id);
  const terms = await readTerms(ctx, correction.external_subscription_id, chargeIds);
  const events: RepricedEvent[] = [];
  for (const chain of chains)
    events.push(...(await repriceChain(ctx, terms, correction.external_subscription_id, chain)));

  const feeIds = events.map(({ issued }) => issued.fee.id);
  const [settledFees, waitedFor] = await Promise.all([listSettledFees(ctx, feeIds), listWaitedFor(ctx, feeIds)]);
  const byFee = new Map<string, RepricedEvent>();
  // A moved event is no longer in its old chain, so each fee is settled once.
  for (const each of events) {
    const { id } = each.issued.fee;
    if (isOther(each) || settledFees.has(id) || waitedFor.has(id)) byFee.set(id, each);
  }

  const adjustments: NewAdjustment[] = [];
  const standalone: StandaloneChange[] = [];
  const waiting: FeeToSettle[] = [];
  for (const each of byFee.values()) {
    const { id, invoice_id, invoiceable } = each.issued.fee;
    if (!invoiceable || invoice_id === null) standalone.push(changeOfEvent(terms, each));
    else if (waitedFor.has(id) || !(await readState(ctx, invoice_id)).is_issued) waiting.push(feeToSettle(each));
    else adjustments.push(...(await settleEvent(ctx, correction, feeToSettle(each), invoice_id)));
  }
  await insertWaitingFees(ctx, correction.id, waiting);
  adjustments.push(...(await settleStandalone(ctx, correction, terms, standalone)));
  await insertAdjustments(ctx, correction.id, { adjustments, now: ctx.now(), turn: await takeTurn(ctx) });
  await markChainsSettled(ctx, correction.id, ctx.now());
  return adjustments;
}

/** Settles what waits for invoices that are issued by now; what earlier corrections have not settled of it, before. */
async function settleIssuedTurns(ctx: Context, correction: CorrectionRow): Promise<NewAdjustment[]> {
  const adjustments: NewAdjustment[] = [];
  for (const each of await listIssuedTurns(ctx, correction.id)) {
    if (each.correction_id === correction.id) adjustments.push(...(await settleTurn(ctx, correction, each)));
    else
      await attemptOfEarlier(ctx, each.correction_id, async (on, earlier) => {
        if (earlier.status !== 'failed') await settleTurn(on, earlier, each);
      });
  }
  return adjustments;
}

async function settleTurn(
  ctx: Context,
  correction: CorrectionRow,
  { turn, fee_id, invoice_id: invoiceId, ...event }: WaitingFee,
): Promise<NewAdjustment[]> {
  const isThere = fee_id !== null && invoiceId !== null;
  const adjustments = isThere ? await inRange(() => settleEvent(ctx, correction, { ...event, fee_id }, invoiceId)) : [];
  await insertAdjustments(ctx, correction.id, { adjustments, now: ctx.now(), turn });
  await markFeeSettled(ctx, turn, ctx.now());
  return adjustments;
}

const feeToSettle = ({ issued: { fee }, priced, chain }: RepricedEvent): FeeToSettle => ({
  fee_id: fee.id,
  subscription_id: fee.subscription_id ?? chain.subscription_id,
  from_datetime: fee.from_datetime ?? chain.window.from,
  to_datetime: fee.to_datetime ?? chain.window.to,
  priced:
    priced === undefined
      ? null
      : {
          charge_filter_id: priced.filter?.id ?? null,
          grouped_by: priced.groupedBy,
          amount_cents: priced.fee.amountCents,
          units: priced.fee.units,
        },
});

/** Whether the fee of an event differs from what it would be now. */
function isOther({ issued: { fee }, isTakenOff, priced }: RepricedEvent): boolean {
  if (isTakenOff) return priced !== undefined;
  if (priced === undefined) return fee.amount_cents !== 0 || !fee.units.isZero() || !fee.invoiceable;
  return priced.fee.amountCents !== fee.amount_cents || !priced.fee.units.eq(fee.units) || isMoved(fee, priced);
}

const isMoved = (fee: FeeRow, { filter, groupedBy }: NonNullable<RepricedEvent['priced']>) =>
  isElsewhere(fee, { charge_filter_id: filter?.id ?? null, grouped_by: groupedBy });

const isElsewhere = (fee: FeeRow, place: Pick<PricedPlace, 'charge_filter_id' | 'grouped_by'>) =>
  fee.charge_filter_id !== place.charge_filter_id || canonicalJson(fee.grouped_by) !== canonicalJson(place.grouped_by);

/** One event on its invoice: how it was billed, and how it would be billed now, perhaps in another filter or group. */
async function settleEvent(
  ctx: Context,
  correction: CorrectionRow,
  event: FeeToSettle,
  invoiceId: InvoiceId,
): Promise<NewAdjustment[]> {
  await lockInvoice(ctx, invoiceId);
  const { status } = await readInvoice(ctx, invoiceId);
  if (status === 'voided' || status === 'deleted') return [];
  const billed = { invoiceId, invoiceIds: await listInPlace(ctx, invoiceId) };
  const settled = await listSettled(ctx, billed);
  const [fee] = await listFeesByIds(ctx, [event.fee_id], 'standing');
  const made = await settleItems(ctx, correction, {
    billed,
    billedItems: billedItemsOf(event, fee!, settled),
    settled,
  });
  return made.filter((row) => row.delta_amount_cents !== 0 || row.billed_amount_cents !== 0);
}

function billedItemsOf(
  { subscription_id, from_datetime: from, to_datetime: to, priced }: FeeToSettle,
  fee: FeeRow,
  settled: Awaited<ReturnType<typeof listSettled>>,
): RepricedItem[] {
  const key: BilledItemKey = {
    subscription_id,
    kind: 'usage',
    charge_id: fee.charge_id,
    charge_filter_id: fee.charge_filter_id,
    grouped_by: fee.grouped_by,
  };
  const window = { from, to };
  const displayName = fee.invoice_display_name ?? fee.item_name;
  const nothing = { newCents: cents(0), newUnits: ZERO };
  const billedItems = new Map<string, RepricedItem>();
  const put = (billedItem: RepricedItem) => billedItems.set(canonicalJson(keyOnly(billedItem)), billedItem);
  for (const each of settled.values()) put({ ...each, fee: undefined, ...nothing });
  put({ ...key, window, displayName, fee, ...nothing });
  if (priced !== null) {
    const { charge_filter_id, grouped_by, amount_cents: newCents, units: newUnits } = priced;
    const ofFee = isElsewhere(fee, priced) ? undefined : fee;
    put({ ...key, charge_filter_id, grouped_by, window, displayName, fee: ofFee, newCents, newUnits });
  }
  return [...billedItems.values()];
}

const keyOnly = ({ subscription_id, kind, charge_id, charge_filter_id, grouped_by }: BilledItemKey) => [
  subscription_id,
  kind,
  charge_id,
  charge_filter_id,
  grouped_by,
];
