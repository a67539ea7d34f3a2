import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { BilledLine } from './lines.ts';

/**
 * Claims the periods of lines: each period, start and end of a subscription is on one invoice only. Lines that were
 * claimed already are left out.
 *
 * @returns ids of the subscriptions that were claimed
 * Rule: invoices.md#guarantees-of-the-storage.
 */
export async function claimLines(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  { lines, claim }: { lines: readonly BilledLine[]; claim: { billedOn: Temporal.PlainDate; now: Temporal.Instant } },
): Promise<Set<string>> {
  const rows = lines.map((line) => ({
    id: newId(),
    subscription_id: line.subscription.id,
    invoicing_reason: line.reason,
    recurring: line.reason === 'subscription_periodic',
    ends_trial: line.endsTrial ?? false,
    billed_at: line.at,
    ...windowColumns(line),
  }));
  const claimed = await db<{ subscription_id: SubscriptionId }[]>`
    insert into invoice_subscriptions (id, organization_id, invoice_id, subscription_id, invoicing_reason, recurring,
      ends_trial, billed_at, billed_on, from_datetime, to_datetime, charges_from_datetime, charges_to_datetime,
      fixed_charges_from_datetime, fixed_charges_to_datetime, created_at)
    select id, ${organizationId}::uuid, ${invoiceId}::uuid, subscription_id, invoicing_reason, recurring, ends_trial,
      billed_at, ${claim.billedOn}, from_datetime, to_datetime, charges_from_datetime, charges_to_datetime,
      fixed_charges_from_datetime, fixed_charges_to_datetime, ${claim.now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as line (id uuid, subscription_id uuid, invoicing_reason text,
      recurring boolean, ends_trial boolean, billed_at timestamptz, from_datetime timestamptz, to_datetime timestamptz,
      charges_from_datetime timestamptz, charges_to_datetime timestamptz, fixed_charges_from_datetime timestamptz,
      fixed_charges_to_datetime timestamptz)
    on conflict do nothing
    returning subscription_id`;
  return new Set(claimed.map((row) => row.subscription_id));
}

const windowColumns = ({ windows }: BilledLine) => ({
  from_datetime: windows.subscription.from,
  to_datetime: windows.subscription.to,
  charges_from_datetime: windows.charges?.from ?? null,
  charges_to_datetime: windows.charges?.to ?? null,
  fixed_charges_from_datetime: windows.fixedCharges?.from ?? null,
  fixed_charges_to_datetime: windows.fixedCharges?.to ?? null,
});

/** Lines of a draft, with their windows as a new computation sees them. */
export const rewriteLines = ({ db, organizationId }: Scope, invoiceId: InvoiceId, lines: readonly BilledLine[]) => db`
  update invoice_subscriptions stored
  set from_datetime = line.from_datetime, to_datetime = line.to_datetime,
    charges_from_datetime = line.charges_from_datetime, charges_to_datetime = line.charges_to_datetime,
    fixed_charges_from_datetime = line.fixed_charges_from_datetime,
    fixed_charges_to_datetime = line.fixed_charges_to_datetime
  from jsonb_to_recordset(${json(lines.map((line) => ({ subscription_id: line.subscription.id, ...windowColumns(line) })))}::jsonb)
    as line (subscription_id uuid, from_datetime timestamptz, to_datetime timestamptz,
      charges_from_datetime timestamptz, charges_to_datetime timestamptz, fixed_charges_from_datetime timestamptz,
      fixed_charges_to_datetime timestamptz)
  where stored.organization_id = ${organizationId} and stored.invoice_id = ${invoiceId}
    and stored.subscription_id = line.subscription_id`;
