import type { Draft } from '../../../engine/invoices/draft.ts';
import type { Context } from '../../../platform/context.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import type { AdjustedFeeRow } from '../../invoices/adjusted-fees/queries.ts';
import type { HeldTax } from '../../usage/usage/fee-taxes.ts';
import { toCount } from '../../usage/usage/price-usage.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import { countUsage } from '../../usage/usage-counts/count-usage.ts';
import { adjusterOf } from './adjustments.ts';
import type { BillingFacts } from './billing-facts.ts';
import { commitmentFees } from './commitment-fees.ts';
import { waitingFees } from './correction-fees.ts';
import { type FactsToStore, readFactsToStore } from './facts-to-store.ts';
import { chargesOfLine, type LineFee, subscriptionLineFee, usageLineFees } from './fees.ts';
import { fixedChargeFees } from './fixed-charges.ts';
import { type BilledLine, prorationOf, sharedInstants } from './lines.ts';
import type { IssuerFacts, PayerFacts } from './payer-and-issuer.ts';
import { renewalFees } from './renewals.ts';
import { totalFees } from './total-fees.ts';

export interface Computation {
  fees: readonly LineFee[];
  /** Taxes of each fee, by its id. */
  taxes: ReadonlyMap<string, readonly HeldTax[]>;
  draft: Draft;
  /** Facts besides fees; standalone fees do not need them. */
  means?: BillingFacts | undefined;
  /** What is stored beside the amounts, where it was read together with them. */
  toStore?: FactsToStore | undefined;
}

export interface ComputationInput {
  payer: PayerFacts;
  issuer: IssuerFacts;
  lines: readonly BilledLine[];
  /** Of the plans of the lines, see chargesOfLines. */
  charges: readonly PricedCharge[];
  skipUsage: boolean;
  isFinalizing: boolean;
  /** Adjustments of fees of the draft. */
  adjustments?: readonly AdjustedFeeRow[];
}

/** Charges of the plans of lines, and of the plans that took over from them. */
export function chargesOfLines(ctx: Context, lines: readonly BilledLine[]): Promise<PricedCharge[]> {
  const planIds = lines.flatMap(({ subscription }) => [
    subscription.plan_id,
    subscription.successor_plan_id ?? subscription.plan_id,
  ]);
  return listPricedCharges(ctx, [...new Set(planIds)], { pause: ctx.pause });
}

/**
 * Computes what an invoice's lines amount to: their fees, then the steps of the whole invoice. Reads only, but when it
 * is finalized: coupons and notes are then locked, and progressive invoices give back what they billed in excess.
 *
 * Rule: invoice-amounts.md#order-of-computation.
 */
export async function compute(ctx: Context, input: ComputationInput): Promise<Computation> {
  const { payer, issuer, lines, skipUsage, isFinalizing } = input;
  const fees = await computeFees(ctx, input);
  const [totals, toStore] = await Promise.all([
    totalFees(ctx, { payer, issuer, fees, isFinalizing, lines: skipUsage ? [] : lines }),
    readFactsToStore(ctx, payer.id, fees),
  ]);
  return { ...totals, toStore };
}

/**
 * The fees of lines: for each line the subscription fee, usage fees, fees of units carried into a new period, the gap
 * to the minimum commitment and differences left by earlier corrections. Reads only.
 */
export async function computeFees(
  ctx: Context,
  { lines, charges, skipUsage, adjustments = [] }: Omit<ComputationInput, 'payer' | 'issuer' | 'isFinalizing'>,
): Promise<LineFee[]> {
  const adjuster = adjusterOf(adjustments);
  const fixedOf = await fixedChargeFees(ctx, lines, adjuster);
  const usage = skipUsage ? [] : await countLines(ctx, lines, charges);
  const renewals = skipUsage ? [] : await renewalFees(ctx, lines, charges, 'invoiceable');
  const feesOfLine = async (line: BilledLine) => {
    const subscriptionFee = subscriptionLineFee(line);
    const usageFees = await mapInSlices(
      usage.filter((counted) => counted.line === line),
      ({ charge, shares, window }) => usageLineFees(line, charge, { counted: shares, window, adjuster }),
      ctx.pause,
    );
    const renewed = renewals.filter((fee) => fee.line === line);
    return [
      ...(subscriptionFee === undefined ? [] : [adjuster.fee(subscriptionFee)]),
      ...usageFees.flat(),
      ...renewed,
      ...fixedOf(line).map(adjuster.fee),
    ];
  };
  const feesOfLines = (await mapInSlices(lines, feesOfLine, ctx.pause)).flat();

  const commitments = (await commitmentFees(ctx, lines, feesOfLines)).map(adjuster.fee);
  const corrections = skipUsage ? [] : await waitingFees(ctx, lines);
  const made = [...feesOfLines, ...commitments, ...corrections];
  return lines.flatMap((line) => made.filter((fee) => fee.line === line));
}

/** Counts the usage of every charge of every line together. */
async function countLines(ctx: Context, lines: readonly BilledLine[], charges: readonly PricedCharge[]) {
  const asked = lines.flatMap((line) => {
    const window = line.usageWindow;
    return window === undefined ? [] : chargesOfLine(line, charges).map((charge) => ({ line, charge, window }));
  });
  if (asked.length === 0) return [];
  const counted = await countUsage(ctx.db, {
    organizationId: ctx.organizationId,
    pause: ctx.pause,
    charges: asked.map(({ line, charge, window }, index) =>
      toCount(
        charge,
        {
          subscription: line.subscription,
          proration: prorationOf(line, window),
          ...sharedInstants(line, window),
        },
        String(index),
      ),
    ),
  });
  const sharesOf = new Map(counted.map(({ key, shares }) => [key, shares]));
  return asked.map((each, index) => ({ ...each, shares: sharesOf.get(String(index)) ?? [] }));
}
