import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import { type DueItem, type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { InvoiceItem } from '../bill-subscriptions/due-subscriptions.ts';
import { refreshDraft } from '../build-invoice/finalize-draft.ts';
import { computedOrNoted } from '../build-invoice/generation-error.ts';

/**
 * Refreshes drafts that were flagged by a change of their plans, taxes or customer. A draft whose subscriptions have
 * all ended waits for its finalization. Rules: periodic-jobs.md#refresh-drafts, invoices.md#jobs.
 */
export const refreshDrafts = periodicJob({
  name: 'refresh-drafts',
  item: InvoiceItem,
  select: async (sql, _at, reach, page) => selected(await listFlagged(sql, reach, page), page, dueItem),
  async work(ctx, { invoice_id }) {
    await computedOrNoted(ctx, invoice_id, (own) => refreshDraft(own, invoice_id));
  },
  nextDueAt: async (scope) => (await earliestFlag(scope))[0]!.at,
});

interface FlaggedRow {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: InvoiceId;
}

const dueItem = ({ organization_id, sandbox, id }: FlaggedRow): DueItem<{ invoice_id: InvoiceId }> => ({
  organization_id,
  sandbox,
  item: { invoice_id: id },
  key: id,
  resource: { type: 'Invoice', id },
});

const flagged = (db: Db) => db`
  invoice.status = 'draft' and invoice.ready_to_be_refreshed and invoice.invoice_type = 'subscription'
  and exists (
    select from invoice_subscriptions line
    join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
    where line.organization_id = invoice.organization_id and line.invoice_id = invoice.id and s.status = 'active')`;

const listFlagged = (db: Db, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`invoice.organization_id`, db`invoice.id`);
  return db<(FlaggedRow & Placed)[]>`
    select invoice.organization_id, organization.sandbox, invoice.id, ${rows.place}
    from invoices invoice
    join organizations organization on organization.id = invoice.organization_id
    where ${flagged(db)} and ${inReach(db, reach, db`invoice.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

/** A flagged draft is due at once. */
const earliestFlag = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(invoice.created_at) as at from invoices invoice
  where invoice.organization_id = ${organizationId} and ${flagged(db)}`;
