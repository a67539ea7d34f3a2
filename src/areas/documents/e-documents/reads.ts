import { isReady } from '../../../engine/e-documents/rules.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import type { ProfileQuery } from '../../messaging/documents/profile-query.ts';
import { checkedCustomer, checkedEntity } from './check-before-invoices.ts';
import { getEDocument, listEDocuments } from './queries.ts';
import type { EDocumentsQuery } from './schema.ts';
import { eDocumentView, eDocumentViews } from './view.ts';

export async function showEDocuments(ctx: Context, { query }: { query: EDocumentsQuery }) {
  const { rows, totalCount } = await listEDocuments(ctx, query);
  return { e_documents: await eDocumentViews(ctx, rows), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 e_document */
export async function showEDocument(ctx: Context, { svc_id }: { svc_id: string }) {
  return { e_document: await eDocumentView(ctx, await getEDocument(ctx, svc_id)) };
}

/** What a customer's documents would lack. @throws Refusal 404 customer */
export async function checkCustomer(
  ctx: Context,
  { external_id, query }: { external_id: string; query: ProfileQuery },
) {
  return answer(await checkedCustomer(ctx, external_id, query.profile));
}

/** What a billing entity's documents would lack. @throws Refusal 404 billing_entity */
export async function checkEntity(ctx: Context, { code, query }: { code: string; query: ProfileQuery }) {
  return answer(await checkedEntity(ctx, code, query.profile));
}

const answer = ({ profile, missing }: Awaited<ReturnType<typeof checkedEntity>>) => ({
  e_document_check: { profile, ready: isReady(missing), missing },
});
