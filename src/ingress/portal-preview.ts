import { InvoicePreview } from '../areas/invoices/invoices/preview-schema.ts';
import { PORTAL_PATH } from '../areas/messaging/mails/portal-token.ts';
import { jobs } from '../queues.ts';
import { answeredInTime } from './database-in-time.ts';
import type { PortalDeps, Visit } from './portal-visit.ts';
import { requestIdOf } from './request-id.ts';

/** Longest wait for a preview: the rest of the page is worth more than its last block. */
const PREVIEW_MS = 4000;

/**
 * The next invoice of a customer's subscriptions, as the API previews it: computed by a worker, in statements of its
 * own. Undefined where there is none, or it takes too long: the page then goes without.
 */
export async function askNextInvoice(
  { previews, handOver, log }: PortalDeps,
  { ctx, customer, request }: Visit,
  externalIds: string[],
): Promise<unknown> {
  try {
    handOver.refuseIfInVain(jobs['preview.run'].queue);
    const body = InvoicePreview.parse({
      customer: { external_id: customer.external_id },
      subscriptions: { external_ids: externalIds },
    });
    const asked = previews.run({
      operation: 'invoicePreview',
      organization_id: ctx.organizationId,
      sandbox: ctx.sandbox,
      api_key_id: null,
      request_id: requestIdOf(request),
      input: { body },
      idempotency: null,
      // Without the token, which is a credential.
      request: { method: 'get', origin: '', path: PORTAL_PATH, client: null, parameters: null },
    });
    const { status, body: text } = await answeredInTime(asked, PREVIEW_MS);
    return status === 200 ? JSON.parse(text) : undefined;
  } catch (error) {
    log.info({ organization_id: ctx.organizationId, err: error }, 'a page of a customer goes without its next invoice');
    return undefined;
  }
}
