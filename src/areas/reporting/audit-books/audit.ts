import type { Context } from '../../../platform/context.ts';
import type { AuditId } from '../../../platform/ids.ts';
import { nested } from '../../../platform/records/nested.ts';
import type { StepPayload } from '../../../steps.ts';
import { getAudit } from '../audits/queries.ts';
import type { AuditMode } from '../audits/schema.ts';
import { auditView } from '../audits/view.ts';
import { CHECKS } from './all-checks.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';
import { type CheckResult, finishRun, keepFindings, resolveFindings, startRun } from './findings.ts';

/** A check that takes longer is a finding itself. */
const CHECK_TIMEOUT_MS = 60_000;

export interface AuditRun {
  id: AuditId;
  mode: AuditMode;
  /** Codes of the checks; all of the mode without them. */
  checks?: readonly string[] | null;
}

/**
 * Runs the checks on an organization's books in the caller's transaction, stores their findings and announces new ones.
 * Each check is one statement or more, each with a snapshot of its own, and repairs nothing.
 *
 * Rule: auditor.md.
 */
export async function auditBooks(ctx: Context, run: AuditRun): Promise<void> {
  await startRun(ctx, run, ctx.now());
  const results: CheckResult[] = [];
  for (const check of checksOf(run)) results.push(await runCheck(ctx, check));
  await finishRun(ctx, run.id, { checks: results, now: ctx.now() });
  if (results.every(({ new_count }) => new_count === 0)) return;
  const audit = auditView(await getAudit(ctx, run.id));
  ctx.log.warn(audit, 'the books have new findings');
  ctx.record({
    webhook: {
      type: 'audit.failed',
      objectType: 'audit',
      objectId: run.id,
      object: {
        svc_id: run.id,
        mode: audit.mode,
        started_at: audit.started_at,
        finished_at: audit.finished_at,
        findings_count: audit.findings_count,
        new_findings_count: audit.new_findings_count,
        checks: results.filter(({ count }) => count > 0).map(({ code, count }) => ({ code, count })),
      },
    },
  });
}

/** After-step `audit-books`: runs a requested audit. */
export const auditStep = (ctx: Context, { run_id, checks = null }: StepPayload<'audit-books'>): Promise<void> =>
  auditBooks(ctx, { id: run_id, mode: 'manual', checks });

const checksOf = ({ mode, checks }: AuditRun): Check[] =>
  CHECKS.filter(({ code, isSlow }) => (checks ? checks.includes(code) : mode !== 'incremental' || !isSlow));

async function runCheck(ctx: Context, check: Check): Promise<CheckResult> {
  const started = performance.now();
  const found = await findOrFail(ctx, check);
  const findings = [...new Map(found.map((finding) => [finding.resource_id, finding])).values()];
  const newCount = await keepFindings(ctx, check, { findings, now: ctx.now() });
  const seen = findings.map(({ resource_id }) => resource_id);
  if (findings.length < MOST_FINDINGS) await resolveFindings(ctx, check.code, { seen, now: ctx.now() });
  return {
    code: check.code,
    count: findings.length,
    new_count: newCount,
    ms: Math.trunc(performance.now() - started),
  };
}

/** A check that fails is a finding itself and does not stop the others. */
async function findOrFail(ctx: Context, check: Check): Promise<readonly Finding[]> {
  try {
    return await nested(ctx, async (own) => {
      await own.db.unsafe(`set local statement_timeout = ${CHECK_TIMEOUT_MS}`);
      return check.find(own);
    });
  } catch (error) {
    ctx.log.error({ check: check.code, error }, 'a check of the books failed');
    const isTimeout = (error as { code?: string }).code === '57014';
    return [{ resource_id: 'check', expected: check.mustHold, actual: isTimeout ? 'timeout' : 'error' }];
  }
}
