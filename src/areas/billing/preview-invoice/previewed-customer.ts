import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { upsertCustomer } from '../../customers/customers/commands.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import type { InvoicePreview } from '../../invoices/invoices/preview-schema.ts';

/**
 * The customer of a preview: a stored one with the changes of the request, or one that exists for the preview only.
 *
 * @throws Refusal 422 of its attributes
 */
export async function previewedCustomer(
  ctx: Context,
  { customer, billing_entity_code: code }: InvoicePreview,
): Promise<{ id: string; external_id: string }> {
  const { external_id: externalId, integration_customers: _none, ...attributes } = customer!;
  const body = { external_id: externalId ?? newId(), ...attributes };
  if (!externalId) await upsertCustomer(ctx, { body: { ...body, ...(code ? { billing_entity_code: code } : {}) } });
  else if (Object.keys(attributes).length > 0) await upsertCustomer(ctx, { body });
  return getCustomer(ctx, body.external_id);
}
