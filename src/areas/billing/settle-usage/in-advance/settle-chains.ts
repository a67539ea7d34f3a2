import { cents } from '../../../../engine/money/cents.ts';
import { ZERO } from '../../../../engine/money/decimal.ts';
import { canonicalJson } from '../../../../platform/canonical-json.ts';
import type { Context } from '../../../../platform/context.ts';
import type { InvoiceId } from '../../../../platform/ids.ts';
import { readInvoice } from '../../../invoices/invoices/queries.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import type { BilledItemKey } from '../billed-items.ts';
import { listInPlace } from '../issued-fees.ts';
import { lockInvoice, readState } from '../periods-to-settle.ts';
import type { RepricedItem } from '../reprice.ts';
import { settleItems } from '../settle-invoice.ts';
import { listSettled } from '../settled-items.ts';
import type { NewAdjustment } from '../stored-adjustments.ts';
import { readTerms } from './chain-terms.ts';
import { listSettledFees } from './fees-of-events.ts';
import { type RepricedEvent, repriceChain } from './reprice-chain.ts';
import { changeOfEvent, type StandaloneChange, settleStandalone } from './settle-standalone-fee.ts';
import { listChains, markChainsSettled } from './stored-chains.ts';

/**
 * Settles the fees of events that were billed in advance: the chains that a correction has changed are repriced, and
 * each fee that differs is settled. Invoices that are not issued yet are left for later.
 *
 * Rule: event-corrections.md#effect "in-advance event", "in-advance, standalone fee".
 */
export async function settleChains(
  ctx: Context,
  correction: CorrectionRow,
): Promise<{ isSettled: boolean; adjustments: NewAdjustment[] }> {
  const chains = await listChains(ctx, correction.id);
  if (chains.length === 0) return { isSettled: true, adjustments: [] };
  const chargeIds = chains.map(({ charge_id }) => charge_id);
  const terms = await readTerms(ctx, correction.external_subscription_id, chargeIds);
  const events: RepricedEvent[] = [];
  for (const chain of chains)
    events.push(...(await repriceChain(ctx, terms, correction.external_subscription_id, chain)));

  const settledFees = await listSettledFees(
    ctx,
    events.map(({ issued }) => issued.fee.id),
  );
  const byFee = new Map<string, RepricedEvent>();
  // A moved event is no longer in its old chain, so each fee is settled once.
  for (const each of events)
    if (isOther(each) || settledFees.has(each.issued.fee.id)) byFee.set(each.issued.fee.id, each);

  const adjustments: NewAdjustment[] = [];
  const standalone: StandaloneChange[] = [];
  let isSettled = true;
  for (const each of byFee.values()) {
    const { invoice_id, invoiceable } = each.issued.fee;
    if (!invoiceable || invoice_id === null) standalone.push(changeOfEvent(terms, each));
    else if ((await readState(ctx, invoice_id)).is_issued)
      adjustments.push(...(await settleEvent(ctx, correction, each, invoice_id)));
    else isSettled = false;
  }
  adjustments.push(...(await settleStandalone(ctx, correction, terms, standalone)));
  if (isSettled) await markChainsSettled(ctx, correction.id, ctx.now());
  return { isSettled, adjustments };
}

/** Whether the fee of an event differs from what it would be now. */
function isOther({ issued: { fee }, isTakenOff, priced }: RepricedEvent): boolean {
  if (isTakenOff) return priced !== undefined;
  if (priced === undefined) return fee.amount_cents !== 0 || !fee.units.isZero() || !fee.invoiceable;
  return priced.fee.amountCents !== fee.amount_cents || !priced.fee.units.eq(fee.units) || isElsewhere({ fee }, priced);
}

const isElsewhere = ({ fee }: Pick<RepricedEvent['issued'], 'fee'>, priced: NonNullable<RepricedEvent['priced']>) =>
  fee.charge_filter_id !== (priced.filter?.id ?? null) ||
  canonicalJson(fee.grouped_by) !== canonicalJson(priced.groupedBy);

/** One event on its invoice: how it was billed, and how it would be billed now, perhaps in another filter or group. */
async function settleEvent(
  ctx: Context,
  correction: CorrectionRow,
  event: RepricedEvent,
  invoiceId: InvoiceId,
): Promise<NewAdjustment[]> {
  await lockInvoice(ctx, invoiceId);
  const { status } = await readInvoice(ctx, invoiceId);
  if (status === 'voided' || status === 'deleted') return [];
  const billed = { invoiceId, invoiceIds: await listInPlace(ctx, invoiceId) };
  const settled = await listSettled(ctx, billed);
  const made = await settleItems(ctx, correction, {
    billed,
    billedItems: billedItemsOf(event, settled),
    settled,
  });
  return made.filter((row) => row.delta_amount_cents !== 0 || row.billed_amount_cents !== 0);
}

function billedItemsOf(
  { issued: { fee }, priced, chain }: RepricedEvent,
  settled: Awaited<ReturnType<typeof listSettled>>,
): RepricedItem[] {
  const key: BilledItemKey = {
    subscription_id: fee.subscription_id ?? chain.subscription_id,
    kind: 'usage',
    charge_id: fee.charge_id,
    charge_filter_id: fee.charge_filter_id,
    grouped_by: fee.grouped_by,
  };
  const window = { from: fee.from_datetime ?? chain.window.from, to: fee.to_datetime ?? chain.window.to };
  const displayName = fee.invoice_display_name ?? fee.item_name;
  const nothing = { newCents: cents(0), newUnits: ZERO };
  const billedItems = new Map<string, RepricedItem>();
  const put = (billedItem: RepricedItem) => billedItems.set(canonicalJson(keyOnly(billedItem)), billedItem);
  for (const each of settled.values()) put({ ...each, fee: undefined, ...nothing });
  put({ ...key, window, displayName, fee, ...nothing });
  if (priced !== undefined) {
    const { amountCents: newCents, units: newUnits } = priced.fee;
    const now = { ...key, charge_filter_id: priced.filter?.id ?? null, grouped_by: priced.groupedBy };
    put({ ...now, window, displayName, fee: isElsewhere({ fee }, priced) ? undefined : fee, newCents, newUnits });
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
