import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { getCorrection, listAdjustments, listCorrections, listVersions } from './queries.ts';
import type { CorrectionListQuery, VersionsQuery } from './schema.ts';
import { adjustmentView, correctionView, versionText } from './view.ts';

/** Adjustments shown with their correction; further ones are on the pages of their own list. */
const SHOWN_ADJUSTMENTS: Page = { page: 1, per_page: 100 };

export async function showCorrections(ctx: Context, { query }: { query: CorrectionListQuery }) {
  const { rows, totalCount } = await listCorrections(ctx, query);
  return { corrections: rows.map((row) => correctionView(row)), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 event_correction */
export async function showCorrection(ctx: Context, { svc_id }: { svc_id: string }) {
  const correction = await getCorrection(ctx, svc_id);
  const { rows } = await listAdjustments(ctx, correction.id, SHOWN_ADJUSTMENTS);
  return { correction: correctionView(correction, rows) };
}

/** @throws Refusal 404 event_correction */
export async function showAdjustments(ctx: Context, { svc_id, query }: { svc_id: string; query: Page }) {
  const { id } = await getCorrection(ctx, svc_id);
  const { rows, totalCount } = await listAdjustments(ctx, id, query);
  return { adjustments: rows.map(adjustmentView), meta: pageMeta(query, totalCount) };
}

/**
 * All states of an event from its reception to now.
 *
 * @throws Refusal 404 event
 */
export async function showVersions(
  ctx: Context,
  { transaction_id, query }: { transaction_id: string; query: VersionsQuery },
): Promise<Answer> {
  const rows = await listVersions(ctx, transaction_id, query.external_subscription_id);
  return new Answer(null, { json: `{"event_versions":[${rows.map(versionText).join(',')}]}` });
}
