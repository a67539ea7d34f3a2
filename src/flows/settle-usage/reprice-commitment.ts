import type { Period } from '../../engine/calendar/period.ts';
import { type Cents, cents, sumCents } from '../../engine/money/cents.ts';
import { commitmentTrueUp } from '../../engine/subscriptions/minimum-commitment.ts';
import type { Context } from '../../platform/context.ts';
import { commitmentFees } from '../build-invoice/commitment-fees.ts';
import type { LineFee } from '../build-invoice/fees.ts';
import type { BilledLine } from '../build-invoice/lines.ts';
import type { RepricedThing } from './reprice.ts';
import type { SettledThing } from './sql.ts';
import { type IssuedFee, isSetByHand, keyOfThing } from './things.ts';

/**
 * The minimum commitment of a line by the usage of now: of an invoice that has one by what was stored with it, else by the
 * plan. Other fees count as they are billed by now.
 */
export async function repriceCommitment(
  ctx: Context,
  line: BilledLine,
  fees: readonly IssuedFee[],
  things: readonly RepricedThing[],
  settled: ReadonlyMap<string, SettledThing>,
): Promise<RepricedThing[]> {
  const own = things.filter(({ subscription_id }) => subscription_id === line.subscription.id);
  const names = new Set(own.map(keyOfThing));
  const others = [...settled].filter(
    ([name, thing]) =>
      thing.kind !== 'commitment' && thing.subscription_id === line.subscription.id && !names.has(name),
  );
  const changeCents = sumCents([
    ...own.map(({ newCents, fee }) => cents(newCents - (fee?.amount_cents ?? 0))),
    ...others.map(([, { settled_cents }]) => cents(settled_cents)),
  ]);
  const issued = fees.find(({ fee }) => fee.fee_type === 'commitment' && fee.subscription_id === line.subscription.id);
  const stored = issued?.inputs?.commitment;
  const key = {
    subscription_id: line.subscription.id,
    kind: 'commitment' as const,
    charge_id: null,
    charge_filter_id: null,
    grouped_by: {},
  };
  if (issued !== undefined) {
    const { fee } = issued;
    const window = { from: fee.from_datetime!, to: fee.to_datetime! };
    const countedIds = new Set((stored?.counted_fees ?? []).map(({ id }) => id));
    const counts = own.length > 0 && own.every((thing) => thing.fee === undefined || countedIds.has(thing.fee.id));
    const newCents =
      stored === undefined || !counts || isSetByHand(issued)
        ? cents(fee.amount_cents)
        : commitmentTrueUp(
            stored.amount_cents,
            { billedDays: stored.billed_days, periodDays: stored.period_days },
            cents(stored.used_cents + changeCents),
          );
    const displayName = fee.invoice_display_name ?? fee.item_name;
    return [{ ...key, window, displayName, fee, newCents, newUnits: fee.units }];
  }
  if (line.subscription.commitment === null || own.length === 0) return [];
  // A commitment that the plan got since then would be missing whatever the usage.
  if ((await commitmentFees(ctx, [line], [])).length > 0) return [];
  // The fees of this invoice are among those that were made before: what they rise or fall by is added.
  const [missing] = await commitmentFees(ctx, [line], [changeOf(line, own[0]!.window, changeCents)]);
  if (missing === undefined) return [];
  const { window, amountCents: newCents, units: newUnits, item } = missing;
  return [{ ...key, window, displayName: item.displayName, fee: undefined, newCents, newUnits }];
}

/** What usage rises or falls by, as something that a commitment counts. */
const changeOf = (line: BilledLine, window: Period, amountCents: Cents): LineFee =>
  ({ id: '', line, fee_type: 'charge', window, amountCents }) as LineFee;
