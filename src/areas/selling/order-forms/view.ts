import type { Context } from '../../../platform/context.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { documentLinks } from '../../messaging/documents/signed-link.ts';
import type { OrderFormRow } from './queries.ts';

/** Order forms as the API shows them, with links to their signed documents. Rule: quotes.md#fields. */
export async function showOrderForms({ db, config }: Pick<Context, 'db' | 'config'>, rows: readonly OrderFormRow[]) {
  const links = await documentLinks(
    db,
    config,
    rows.flatMap(({ document_id }) => document_id ?? []),
  );
  return rows.map((form) => ({
    svc_id: form.id,
    number: form.number,
    status: form.status,
    void_reason: form.void_reason,
    expires_at: secondsOrNull(form.expires_at),
    signed_at: secondsOrNull(form.signed_at),
    voided_at: secondsOrNull(form.voided_at),
    signed_document_url: (form.document_id && links.get(form.document_id)) ?? null,
    svc_organization_id: form.organization_id,
    svc_customer_id: form.customer_id,
    svc_quote_id: form.quote_id,
    svc_quote_version_id: form.quote_version_id,
    created_at: seconds(form.created_at),
    updated_at: seconds(form.updated_at),
  }));
}

/** One order form as the API shows it. */
export const showOrderForm = async (ctx: Pick<Context, 'db' | 'config'>, form: OrderFormRow) =>
  (await showOrderForms(ctx, [form]))[0]!;
