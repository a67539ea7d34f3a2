import { COMMITMENT_NAME } from '../../../engine/invoices/commitment-name.ts';
import type { InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import { type Cents, cents, sumCents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { decimal, ONE } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import {
  commitmentTrueUp,
  isOfPeriod,
  type Reconciled,
  reconciledPeriod,
} from '../../../engine/subscriptions/minimum-commitment.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { type LineFee, subscriptionFeeInput } from './fees.ts';
import type { BilledLine } from './lines.ts';

/** Fees that count towards a minimum commitment. */
const COUNTED: readonly FeeType[] = ['subscription', 'charge', 'fixed_charge'];
const RECONCILING: readonly InvoicingReason[] = ['subscription_periodic', 'subscription_terminating'];

interface Asked {
  line: BilledLine;
  reconciled: Reconciled;
}

/**
 * Fees that fill the gap to the minimum commitments of the lines' plans, at most one a line. Earlier fees of the
 * reconciled period count, and so do those of this invoice. One statement, none without a commitment.
 *
 * Rule: minimums.md#minimum-commitment.
 */
export async function commitmentFees(
  ctx: Context,
  lines: readonly BilledLine[],
  fees: readonly LineFee[],
): Promise<LineFee[]> {
  const asked = lines.flatMap((line): Asked[] => {
    if (line.subscription.commitment === null || !RECONCILING.includes(line.reason)) return [];
    const reconciled = reconciledPeriod({ ...subscriptionFeeInput(line), closesOnBoundary: line.closesOnBoundary });
    return reconciled === undefined ? [] : [{ line, reconciled }];
  });
  if (asked.length === 0) return [];
  const earlier = await listEarlierFees(ctx, asked);
  return asked.flatMap(({ line, reconciled }, n) => {
    const { used_cents, has_subscription_fee, fees: before } = earlier[n]!;
    if (reconciled.needsSubscriptionFee && !has_subscription_fee) return [];
    const own = fees.filter(
      (fee) => fee.line === line && COUNTED.includes(fee.fee_type) && isOfPeriod(fee.window, reconciled.period),
    );
    const used = sumCents([cents(used_cents), ...own.map(({ amountCents }) => amountCents)]);
    const missing = commitmentTrueUp(line.subscription.commitment!.amount_cents, reconciled, used);
    return missing === 0
      ? []
      : [
          commitmentFee(line, reconciled, missing, {
            used_cents: used,
            counted_fees: [
              ...before,
              ...own.map(({ id, fee_type, amountCents }) => ({ id, fee_type, amount_cents: amountCents })),
            ],
          }),
        ];
  });
}

/** What counted towards a commitment: the sum, and the single fees. */
interface Used {
  used_cents: Cents;
  counted_fees: readonly CountedFee[];
}

interface CountedFee {
  id: FeeId;
  fee_type: FeeType;
  amount_cents: number;
}

function commitmentFee(line: BilledLine, reconciled: Reconciled, amountCents: Cents, used: Used): LineFee {
  const { subscription } = line;
  const commitment = subscription.commitment!;
  const preciseAmountCents = decimal(amountCents);
  return {
    id: newId(),
    line,
    fee_type: 'commitment',
    charge_filter_id: null,
    true_up_parent_fee_id: null,
    item: {
      id: subscription.id,
      code: subscription.plan_code,
      name: subscription.plan_name,
      description: subscription.plan_description,
      displayName: commitment.invoice_display_name ?? COMMITMENT_NAME,
    },
    amountCents,
    preciseAmountCents,
    unitAmountCents: amountCents,
    preciseUnitAmount: toMainUnit(preciseAmountCents, exponentOf(subscription.amount_currency)),
    units: ONE,
    totalAggregatedUnits: ONE,
    eventsCount: null,
    groupedBy: {},
    amountDetails: {},
    window: reconciled.billed,
    counted: null,
    commitment: {
      amount_cents: commitment.amount_cents,
      period: reconciled.period,
      billed_days: reconciled.billedDays,
      period_days: reconciled.periodDays,
      ...used,
    },
  };
}

/**
 * Sums of the fees made before of each reconciled period, in the order asked. Fees of voided invoices do not count, nor
 * do those of progressive ones: the invoice of the period bills the same usage again and credits them.
 */
const listEarlierFees = ({ db, organizationId }: Scope, asked: readonly Asked[]) => {
  const rows = asked.map(({ line, reconciled: { period } }, n) => ({
    n,
    subscription_id: line.subscription.id,
    from_at: period.from,
    to_at: period.to,
  }));
  return db<{ used_cents: number; has_subscription_fee: boolean; fees: CountedFee[] }[]>`
    select coalesce(sum(fee.amount_cents), 0)::bigint as used_cents,
      coalesce(bool_or(fee.fee_type = 'subscription'), false) as has_subscription_fee,
      coalesce(jsonb_agg(jsonb_build_object('id', fee.id, 'fee_type', fee.fee_type, 'amount_cents', fee.amount_cents)
        order by fee.id) filter (where fee.id is not null), '[]') as fees
    from jsonb_to_recordset(${json(rows)}::jsonb)
      as asked (n integer, subscription_id uuid, from_at timestamptz, to_at timestamptz)
    left join lateral (
      select fee.id, fee.amount_cents, fee.fee_type from fees fee
      left join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
      where fee.organization_id = ${organizationId} and fee.subscription_id = asked.subscription_id
        and fee.fee_type = any (${COUNTED}) and fee.deleted_at is null
        and fee.from_datetime + (fee.to_datetime - fee.from_datetime) / 2 >= asked.from_at
        and fee.from_datetime + (fee.to_datetime - fee.from_datetime) / 2 < asked.to_at
        and (fee.invoice_id is null
          or invoice.status not in ('voided', 'deleted') and invoice.invoice_type <> 'progressive_billing')
        and fee.correction_id is null
    ) fee on true
    group by asked.n
    order by asked.n`;
};
