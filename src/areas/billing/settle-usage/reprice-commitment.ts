import type { Period } from '../../../engine/calendar/period.ts';
import { type Cents, cents, sumCents } from '../../../engine/money/cents.ts';
import { commitmentTrueUp, isOfPeriod } from '../../../engine/subscriptions/minimum-commitment.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { commitmentFees } from '../build-invoice/commitment-fees.ts';
import type { LineFee } from '../build-invoice/fees.ts';
import type { BilledLine } from '../build-invoice/lines.ts';
import { isSetByHand, keyOfBilledItem } from './billed-items.ts';
import type { IssuedFee } from './issued-fees.ts';
import type { RepricedItem } from './reprice.ts';
import type { SettledItem } from './settled-items.ts';

/** What something on the invoice rises or falls by, and when it was used. */
interface Change {
  window: Period;
  fee: FeeRow | undefined;
  amountCents: Cents;
}

/**
 * The minimum commitment of a line with current usage: by the stored terms if the invoice has one, else by the plan.
 * Other fees of its period count with their current amounts; fees that open the next period on the same invoice do not.
 *
 * Rules: event-corrections.md#difference, minimums.md#minimum-commitment.
 */
export async function repriceCommitment(
  ctx: Context,
  line: BilledLine,
  {
    fees,
    billedItems,
    settled,
  }: { fees: readonly IssuedFee[]; billedItems: readonly RepricedItem[]; settled: ReadonlyMap<string, SettledItem> },
): Promise<RepricedItem[]> {
  const own = billedItems.filter(({ subscription_id }) => subscription_id === line.subscription.id);
  const changes = changesOf(line, own, settled);
  const issued = fees.find(({ fee }) => fee.fee_type === 'commitment' && fee.subscription_id === line.subscription.id);
  if (issued !== undefined) return [repriceIssued(line, issued, changes)];
  if (line.subscription.commitment === null || own.length === 0) return [];
  // A commitment that the plan got later would be missing whatever the usage.
  if ((await commitmentFees(ctx, [line], [])).length > 0) return [];
  // Fees of this invoice are among the earlier ones, so their increase or decrease is added.
  const [missing] = await commitmentFees(
    ctx,
    [line],
    changes.map((change) => countedFee(line, change)),
  );
  if (missing === undefined) return [];
  const { window, amountCents: newCents, units: newUnits, item } = missing;
  return [{ ...commitmentOf(line), window, displayName: item.displayName, fee: undefined, newCents, newUnits }];
}

const commitmentOf = ({ subscription }: BilledLine) => ({
  subscription_id: subscription.id,
  kind: 'commitment' as const,
  charge_id: null,
  charge_filter_id: null,
  grouped_by: {},
});

/**
 * Increase and decrease of items that are priced again, and of what corrections have settled about other items of the
 * line.
 */
function changesOf(
  line: BilledLine,
  own: readonly RepricedItem[],
  settled: ReadonlyMap<string, SettledItem>,
): Change[] {
  const names = new Set(own.map(keyOfBilledItem));
  const others = [...settled].filter(
    ([name, billedItem]) =>
      billedItem.kind !== 'commitment' && billedItem.subscription_id === line.subscription.id && !names.has(name),
  );
  return [
    ...own.map(({ window, fee, newCents }) => ({
      window,
      fee,
      amountCents: cents(newCents - (fee?.amount_cents ?? 0)),
    })),
    ...others.map(([, { window, settled_cents }]) => ({ window, fee: undefined, amountCents: cents(settled_cents) })),
  ];
}

function repriceIssued(line: BilledLine, issued: IssuedFee, changes: readonly Change[]): RepricedItem {
  const { fee, inputs } = issued;
  const window = { from: fee.from_datetime!, to: fee.to_datetime! };
  const stored = inputs?.commitment;
  const counted = new Set((stored?.counted_fees ?? []).map(({ id }) => id));
  const counts = changes.filter((change) =>
    change.fee === undefined
      ? isOfPeriod(change.window, window)
      : counted.has(change.fee.original_fee_id ?? change.fee.id),
  );
  const newCents =
    stored?.counted_fees === undefined || counts.length === 0 || isSetByHand(issued)
      ? cents(fee.amount_cents)
      : commitmentTrueUp(
          stored.amount_cents,
          { billedDays: stored.billed_days, periodDays: stored.period_days },
          sumCents([cents(stored.used_cents), ...counts.map(({ amountCents }) => amountCents)]),
        );
  const displayName = fee.invoice_display_name ?? fee.item_name;
  return { ...commitmentOf(line), window, displayName, fee, newCents, newUnits: fee.units };
}

/** The increase or decrease of usage in the form in which a commitment counts it. */
const countedFee = (line: BilledLine, { window, amountCents }: Change): LineFee =>
  ({ id: '', line, fee_type: 'charge', window, amountCents }) as LineFee;
