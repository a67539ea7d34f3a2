import type { Context } from '../../../platform/context.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { documentLinks } from '../../messaging/documents/signed-link.ts';
import type { EDocumentRow } from './queries.ts';
import type { EDocumentView } from './schema.ts';
import { listTransmissions, transmissionView } from './transmissions/queries.ts';

/** Electronic documents as clients see them: one statement for the addresses, one for the sendings of all. */
export async function eDocumentViews(
  ctx: Pick<Context, 'db' | 'config' | 'organizationId'>,
  rows: readonly EDocumentRow[],
): Promise<EDocumentView[]> {
  const ids = rows.filter(({ status }) => status !== 'failed').map(({ id }) => id);
  const [links, transmissions] = await Promise.all([
    documentLinks(ctx.db, ctx.config, ids),
    listTransmissions(ctx, ids),
  ]);
  return rows.map((row) => ({
    svc_id: row.id,
    subject_type: row.subject_type,
    svc_subject_id: row.subject_id,
    kind: row.kind,
    number: row.number,
    issuing_date: row.issued_on.toString(),
    profile: row.profile,
    status: row.status,
    problems: row.problems,
    sha256: row.sha256,
    size: row.size,
    file_url: links.get(row.id) ?? null,
    transmissions: transmissions.filter(({ e_document_id: id }) => id === row.id).map(transmissionView),
    retain_until: row.retain_until.toString(),
    created_at: seconds(row.created_at),
    ready_at: secondsOrNull(row.ready_at),
  }));
}

export async function eDocumentView(
  ctx: Pick<Context, 'db' | 'config' | 'organizationId'>,
  row: EDocumentRow,
): Promise<EDocumentView> {
  const [view] = await eDocumentViews(ctx, [row]);
  return view!;
}
