import type { Temporal } from 'temporal-polyfill';
import { partOfUnits } from '../../../engine/corrections/part-of-units.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import { type Cents, cents, roundToCents, sumCents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal, max, ONE, sum, ZERO } from '../../../engine/money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../../../engine/money/precision.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import { canonicalJson } from '../../../platform/canonical-json.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  ChargeFilterId,
  ChargeId,
  CorrectionId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { firstInvoiceOf } from '../../usage/event-corrections/first-invoice.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import { itemOfCharge, type LineFee } from './fees.ts';
import type { BilledLine } from './lines.ts';

/** A difference that a fee is to bill, with the correction that it came from. */
interface DifferenceRow {
  id: string;
  correction_id: CorrectionId;
  reason: string;
  /** The invoice that it is about, or the first one in whose place that was made. Null: of a fee that stands alone. */
  first_invoice_id: InvoiceId | null;
  fee_id: FeeId | null;
  subscription_id: SubscriptionId;
  kind: 'usage' | 'true_up' | 'commitment';
  charge_id: ChargeId | null;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  invoice_display_name: string;
  new_amount_cents: number;
  delta_amount_cents: number;
  billed_amount_cents: number;
  units: Decimal;
}

/**
 * Fees of the differences that corrections of earlier periods left for the next invoice of the lines' subscriptions.
 * Reads only; without differences it reads nothing.
 *
 * Rule: event-corrections.md#difference "fee (increase)".
 */
export async function waitingFees(ctx: Context, lines: readonly BilledLine[]): Promise<LineFee[]> {
  const asked = lines.filter((line) => line.subscription.has_corrections && line.reason !== 'progressive_billing');
  if (asked.length === 0) return [];
  const rows = await listWaiting(
    ctx,
    asked.map(({ subscription }) => subscription.id),
  );
  return correctionFees(ctx, asked, rows);
}

/** Fees of the differences that a correction bills by an invoice of its own. */
export async function ownFees(ctx: Context, line: BilledLine, correctionId: CorrectionId | null): Promise<LineFee[]> {
  const rows = await listOwn(ctx, line.subscription.id, correctionId);
  return correctionFees(ctx, [line], rows);
}

async function correctionFees(
  ctx: Context,
  lines: readonly BilledLine[],
  rows: readonly DifferenceRow[],
): Promise<LineFee[]> {
  const ids = [...new Set(rows.flatMap(({ charge_id }) => (charge_id === null ? [] : [charge_id])))];
  const charges = ids.length === 0 ? [] : await listPricedCharges(ctx, [], { alsoIds: ids });
  const byThing = new Map<string, DifferenceRow[]>();
  for (const row of rows) byThing.set(thingOf(row), [...(byThing.get(thingOf(row)) ?? []), row]);
  return [...byThing.values()].flatMap((own) => {
    const amountCents = sumCents(own.map(({ billed_amount_cents }) => cents(billed_amount_cents)));
    const line = lines.find(({ subscription }) => subscription.id === own[0]!.subscription_id)!;
    const charge = charges.find(({ id }) => id === own[0]!.charge_id);
    return amountCents > 0 ? [correctionFee(line, charge, own, amountCents)] : [];
  });
}

/** What a difference is about; differences of the same item become one fee. */
const thingOf = (row: DifferenceRow): string =>
  canonicalJson([
    row.first_invoice_id ?? row.fee_id,
    row.subscription_id,
    row.kind,
    row.charge_id,
    row.charge_filter_id,
    row.grouped_by,
  ] as never);

function correctionFee(
  line: BilledLine,
  charge: PricedCharge | undefined,
  rows: readonly DifferenceRow[],
  amountCents: Cents,
): LineFee {
  const last = rows.at(-1)!;
  const { correction_id, reason, new_amount_cents } = rows.findLast((row) => row.billed_amount_cents > 0)!;
  const window = { from: last.from_datetime, to: last.to_datetime };
  const changed = max(sum(rows.map(unitsOf)), ZERO);
  const units = last.kind === 'usage' && changed.gt(0) ? changed : ONE;
  const precise = decimal(amountCents);
  const unitCents = precise.div(units);
  const { subscription } = line;
  const item =
    charge === undefined
      ? {
          id: subscription.id,
          code: subscription.plan_code,
          name: subscription.plan_name,
          description: subscription.plan_description,
        }
      : itemOfCharge(line, charge, window).item;
  return {
    id: newId(),
    line,
    fee_type: last.kind === 'commitment' ? 'commitment' : 'charge',
    ...(charge === undefined ? {} : { charge }),
    charge_filter_id: last.charge_filter_id,
    true_up_parent_fee_id: null,
    item: { ...item, displayName: `${last.invoice_display_name} (correction)` },
    amountCents,
    preciseAmountCents: precise,
    unitAmountCents: roundToCents(unitCents),
    preciseUnitAmount: roundToDigits(
      toMainUnit(unitCents, exponentOf(subscription.amount_currency)),
      PRECISE_AMOUNT_DIGITS,
    ),
    units,
    totalAggregatedUnits: units,
    eventsCount: last.kind === 'commitment' ? null : 0,
    groupedBy: last.grouped_by,
    amountDetails: {},
    window,
    counted: null,
    correction: { id: correction_id, adjustmentIds: rows.map(({ id }) => id) },
    facts: {
      kind: 'correction',
      correction_id,
      reason,
      old_amount_cents: new_amount_cents - amountCents,
      new_amount_cents,
      units,
    },
  };
}

/** Units of the billed part; a row that only lowers what waits in place of another item has no difference itself. */
const unitsOf = ({ units, billed_amount_cents, delta_amount_cents }: DifferenceRow): Decimal =>
  delta_amount_cents === 0 ? units : partOfUnits(units, billed_amount_cents, delta_amount_cents);

const differences = ({ db, organizationId }: Scope) => db`
  select adjustment.id, adjustment.correction_id, correction.reason,
    ${firstInvoiceOf(db, db`adjustment.invoice_id`)} as first_invoice_id, adjustment.fee_id, adjustment.subscription_id, adjustment.kind, adjustment.charge_id, adjustment.charge_filter_id,
    adjustment.grouped_by, adjustment.from_datetime,
    adjustment.to_datetime, adjustment.invoice_display_name, adjustment.new_amount_cents,
    adjustment.delta_amount_cents, adjustment.billed_amount_cents, adjustment.units
  from correction_adjustments adjustment
  join event_corrections correction on correction.organization_id = adjustment.organization_id
    and correction.id = adjustment.correction_id
  where adjustment.organization_id = ${organizationId} and adjustment.billed_amount_cents <> 0
    and adjustment.new_fee_id is null`;

const listWaiting = (scope: Scope, subscriptionIds: readonly SubscriptionId[]) => scope.db<DifferenceRow[]>`
  ${differences(scope)} and adjustment.booked_as <> 'invoice'
    and adjustment.subscription_id = any (${subscriptionIds}::uuid[])
  order by adjustment.from_datetime, adjustment.created_at, adjustment.id`;

/** Differences of one correction; without one, all that wait for an invoice that will not come. */
const listOwn = (
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  correctionId: CorrectionId | null,
) => db<DifferenceRow[]>`
  ${differences({ db, organizationId })} and adjustment.subscription_id = ${subscriptionId}
    ${correctionId === null ? db`` : db`and adjustment.booked_as = 'invoice' and adjustment.correction_id = ${correctionId}`}
  order by adjustment.from_datetime, adjustment.created_at, adjustment.id`;

/** Stores which fee bills each difference. */
export async function linkCorrections({ db, organizationId }: Scope, fees: readonly LineFee[]): Promise<void> {
  const links = fees.flatMap(({ id, correction }) =>
    (correction?.adjustmentIds ?? []).map((adjustment_id) => ({ adjustment_id, fee_id: id })),
  );
  if (links.length === 0) return;
  await db`
    update correction_adjustments adjustment set new_fee_id = link.fee_id
    from jsonb_to_recordset(${json(links)}::jsonb) as link (adjustment_id uuid, fee_id uuid)
    where adjustment.organization_id = ${organizationId} and adjustment.id = link.adjustment_id`;
}
