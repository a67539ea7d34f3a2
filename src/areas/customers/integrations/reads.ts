import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getIntegration, listCalls, listIntegrations, listMappings } from './queries.ts';
import type { CallsQuery, IntegrationsQuery } from './schema.ts';
import { callView, integrationView, mappingView } from './view.ts';

/** Days for which a call is listed and kept. */
export const CALLS_KEPT_DAYS = 30;
const HOURS_OF_DAY = 24;

export async function listIntegrationsPage(ctx: Context, { query }: { query: IntegrationsQuery }) {
  const { rows, totalCount } = await listIntegrations(ctx, query.types, query);
  return { integrations: rows.map((row) => integrationView(row, ctx)), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 integration */
export async function showIntegration(ctx: Context, { code }: { code: string }) {
  return { integration: integrationView(await getIntegration(ctx, code), ctx) };
}

/** @throws Refusal 404 integration */
export async function showMappings(ctx: Context, { code }: { code: string }) {
  const { id } = await getIntegration(ctx, code);
  return { mappings: (await listMappings(ctx, id)).map(mappingView) };
}

/** The calls of the last 30 days of real time. @throws Refusal 404 integration */
export async function listIntegrationCalls(ctx: Context, { code, query }: { code: string; query: CallsQuery }) {
  const { id } = await getIntegration(ctx, code);
  const since = realNow().subtract({ hours: CALLS_KEPT_DAYS * HOURS_OF_DAY });
  const { rows, totalCount } = await listCalls(ctx, id, { since, page: query });
  return { integration_calls: rows.map(callView), meta: pageMeta(query, totalCount) };
}
