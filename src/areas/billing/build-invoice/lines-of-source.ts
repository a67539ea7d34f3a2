import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Context } from '../../../platform/context.ts';
import { type InvoiceLineRow, type InvoiceRow, listLinesOfInvoice } from '../../invoices/invoices/queries.ts';
import { type BilledLine, billedLine } from './lines.ts';
import { readBilledSubscriptions } from './payer-and-issuer.ts';

/** The lines of an invoice with its windows, in the time zone in which they were billed. */
export async function linesOfSource(ctx: Context, source: InvoiceRow): Promise<BilledLine[]> {
  const { timezone: zone } = source;
  const stored = await listLinesOfInvoice(ctx, source.id);
  const [billed] = await ctx.db<{ at: Temporal.Instant }[]>`
    select min(billed_at) as at from invoice_subscriptions
    where organization_id = ${ctx.organizationId} and invoice_id = ${source.id}`;
  const at = billed!.at;
  const subscriptions = await readBilledSubscriptions(
    ctx,
    stored.map((line) => line.subscription_id),
    { invoiceId: source.id, at, billedOn: localDate(at, zone), zone },
  );
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  return stored.map((line) => {
    const computed = billedLine(byId.get(line.subscription_id)!, line.invoicing_reason, at, zone);
    return {
      ...computed,
      endsTrial: line.ends_trial,
      windows: { ...computed.windows, ...storedWindows(line, computed) },
    };
  });
}

const storedWindows = (line: InvoiceLineRow, { windows }: BilledLine) => ({
  subscription: periodOf(line.from_datetime, line.to_datetime) ?? windows.subscription,
  charges: periodOf(line.charges_from_datetime, line.charges_to_datetime),
  fixedCharges: periodOf(line.fixed_charges_from_datetime, line.fixed_charges_to_datetime),
});

const periodOf = (from: Temporal.Instant | null, to: Temporal.Instant | null): Period | null =>
  from === null || to === null ? null : { from, to };
