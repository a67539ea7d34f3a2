import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { readWatermarks } from '../../usage/usage-counts/watermarks.ts';
import type { LineFee } from './fees.ts';
import { sharedInstants } from './lines.ts';

/** What is stored with an invoice besides its amounts. It depends on the fees only, so it is read with their taxes. */
export interface FactsToStore {
  /** Locked, so that it stays as it is until the invoice is stored. */
  customer: CustomerRow;
  /** Watermarks of counted usage, see watermarkOf. */
  watermarks: ReadonlyMap<string, object>;
}

/** Two statements sent together; the second one only if usage was counted. */
export async function readFactsToStore(
  ctx: Context,
  customerId: CustomerId,
  fees: readonly LineFee[],
): Promise<FactsToStore> {
  const [customer, watermarks] = await Promise.all([readCustomer(ctx, customerId), watermarksOf(ctx, fees)]);
  return { customer, watermarks };
}

/** The watermark of the events behind a fee; null of one that no events were counted for. */
export const watermarkOf = (fee: LineFee, { watermarks }: FactsToStore): object | null =>
  fee.correction === undefined ? (watermarks.get(countedAs(fee)) ?? null) : null;

/** Watermarks of usage, one for all fees of a charge and window, since there may be thousands of groups. */
async function watermarksOf(ctx: Context, fees: readonly LineFee[]): Promise<Map<string, object>> {
  // The fee of one event names the event; storing its count again would repeat the same data.
  const ofPeriods = fees.filter(
    (fee) => fee.charge !== undefined && fee.inAdvance?.event === undefined && fee.correction === undefined,
  );
  const counted = new Map(ofPeriods.map((fee) => [countedAs(fee), fee]));
  const marks = await readWatermarks(
    ctx,
    [...counted.values()].map(({ line, charge, window, countedUntil }) => ({
      externalSubscriptionId: line.subscription.external_id,
      metric: charge!.metric,
      window: {
        from: charge!.metric.recurring ? null : window.from,
        to: countedUntil ?? window.to,
        ...sharedInstants(line, window),
      },
    })),
  );
  return new Map([...counted.keys()].map((key, index) => [key, marks[index]!]));
}

const countedAs = ({ line, charge }: LineFee): string => `${line.subscription.id} ${charge?.id}`;
