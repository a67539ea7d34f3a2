import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { OrganizationId, TaxDocumentId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { oweCall } from '../request-taxes/tax-documents.ts';

interface DueQuestion {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: TaxDocumentId;
  attempts: number;
}

/**
 * Asks engines again that were out of reach, and makes up for lost jobs. Rules: periodic-jobs.md#retry-taxes,
 * tax-engines.md#failures.
 */
export const retryTaxes = periodicJob({
  name: 'retry-taxes',
  item: z.object({ tax_document_id: idOf<TaxDocumentId>() }),
  async select(sql, at, reach, page) {
    const rows = keyset(sql, page, sql`question.organization_id`, sql`question.next_attempt_at, question.id`);
    const due = await sql<(DueQuestion & Placed)[]>`
      select question.organization_id, organization.sandbox, question.id, question.attempts, ${rows.place}
      from tax_documents question
      join organizations organization on organization.id = question.organization_id
      where question.status = 'pending' and question.next_attempt_at <= ${at}
        and ${inReach(sql, reach, sql`question.organization_id`)} and ${rows.isBehind}
      ${rows.order}`;
    return selected(due, page, ({ organization_id, sandbox, id, attempts }) => ({
      organization_id,
      sandbox,
      item: { tax_document_id: id },
      key: `${id}-${attempts}`,
      resource: { type: 'TaxDocument', id },
    }));
  },
  async work(ctx, { tax_document_id: id }) {
    oweCall(ctx, id);
  },
  async nextDueAt({ db, organizationId }) {
    const [row] = await db<{ due: Temporal.Instant | null }[]>`
      select min(next_attempt_at) as due from tax_documents
      where organization_id = ${organizationId} and status = 'pending'`;
    return row?.due ?? null;
  },
});
