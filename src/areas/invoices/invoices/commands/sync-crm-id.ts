import { z } from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { text } from '../../../../platform/schema/fields.ts';
import { getVisibleInvoice } from '../queries.ts';

export const CrmIdSync = z.object({ external_id: text(), integration_code: text() });

/**
 * Takes the id under which an external CRM knows an invoice. Such systems cannot be connected yet, so every integration
 * code is unknown.
 *
 * @throws Refusal 404 invoice, integration
 * Rule: other-routes.md.
 */
export async function syncCrmId(ctx: Context, { svc_id }: { svc_id: string }): Promise<never> {
  await getVisibleInvoice(ctx, svc_id);
  throw refuse.notFound('integration');
}
