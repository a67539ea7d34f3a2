import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getDrift, listDrifts } from './queries.ts';
import type { DriftsQuery } from './schema.ts';
import { driftView } from './view.ts';

export async function showDrifts(ctx: Context, { query }: { query: DriftsQuery }) {
  const { rows, totalCount } = await listDrifts(ctx, query);
  return { provider_drifts: rows.map(driftView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 provider_drift */
export async function showDrift(ctx: Context, { svc_id }: { svc_id: string }) {
  return { provider_drift: driftView(await getDrift(ctx, svc_id)) };
}
