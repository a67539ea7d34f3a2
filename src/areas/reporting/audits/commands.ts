import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  acknowledge,
  countAudits,
  countFindings,
  getAudit,
  insertAudit,
  listAudits,
  listFindings,
  wasAskedSince,
} from './queries.ts';
import type { AuditCreate, AuditsQuery, FindingsQuery, FindingUpdate } from './schema.ts';
import { auditView, findingView } from './view.ts';

const MINUTES_BETWEEN_RUNS = 10;

/**
 * Requests an audit now, with all checks or the named ones.
 *
 * @throws Refusal 422 base, within ten minutes of the last time
 * Rule: auditor.md.
 */
export async function createAudit(ctx: Context, { body }: { body?: AuditCreate }) {
  if (await wasAskedSince(ctx, ctx.now().subtract({ minutes: MINUTES_BETWEEN_RUNS })))
    throw refuse.invalid({ base: ['value_is_out_of_range'] });
  const id = newId();
  await insertAudit(ctx, id, ctx.now());
  ctx.after({ step: 'audit-books', payload: { run_id: id, checks: body?.checks ?? null } });
  return { audit: auditView(await getAudit(ctx, id)) };
}

export async function showAudits(ctx: Context, { query }: { query: AuditsQuery }) {
  const [rows, total] = await Promise.all([listAudits(ctx, query), countAudits(ctx, query)]);
  return { audits: rows.map(auditView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 audit */
export async function showAudit(ctx: Context, { svc_id }: { svc_id: string }) {
  return { audit: auditView(await getAudit(ctx, svc_id)) };
}

export async function showFindings(ctx: Context, { query }: { query: FindingsQuery }) {
  const [rows, total] = await Promise.all([listFindings(ctx, query), countFindings(ctx, query)]);
  return { audit_findings: rows.map(findingView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 audit_finding */
export async function updateFinding(ctx: Context, { svc_id, body }: { svc_id: string; body: FindingUpdate }) {
  return { audit_finding: findingView(await acknowledge(ctx, svc_id, body)) };
}
