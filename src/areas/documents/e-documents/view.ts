import type { Context } from '../../../platform/context.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { documentLinks } from '../../messaging/documents/signed-link.ts';
import type { EDocumentRow } from './queries.ts';
import type { EDocumentView } from './schema.ts';

/** Electronic documents as clients see them: one statement for the addresses of all. */
export async function eDocumentViews(
  ctx: Pick<Context, 'db' | 'config'>,
  rows: readonly EDocumentRow[],
): Promise<EDocumentView[]> {
  const ids = rows.filter(({ status }) => status !== 'failed').map(({ id }) => id);
  const links = await documentLinks(ctx.db, ctx.config, ids);
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
    retain_until: row.retain_until.toString(),
    created_at: seconds(row.created_at),
    ready_at: secondsOrNull(row.ready_at),
  }));
}

export async function eDocumentView(ctx: Pick<Context, 'db' | 'config'>, row: EDocumentRow): Promise<EDocumentView> {
  const [view] = await eDocumentViews(ctx, [row]);
  return view!;
}
