import { z } from 'zod';
import { booleanFilter, listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { optionalText } from '../../../platform/schema/fields.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';

export const AUDIT_MODES = ['incremental', 'full', 'manual'] as const;
export type AuditMode = (typeof AUDIT_MODES)[number];

/** How many checks a list may name; there are thirty. */
const CHECKS_MAX = 100;
/** Codes of checks, as the table of auditor.md has them. */
const CODE = /^A\d{2}$/;

export const AuditCreate = z.object({
  checks: list(z.string('value_is_invalid').max(LINE_MAX, 'value_is_invalid').regex(CODE, 'value_is_invalid'), {
    max: CHECKS_MAX,
  }).nullish(),
});
export type AuditCreate = z.infer<typeof AuditCreate>;

export const AuditsQuery = z.object({
  ...pageQuery,
  mode: textFilter.pipe(z.enum(AUDIT_MODES, { error: 'value_is_invalid' }).optional()),
  has_findings: booleanFilter,
});
export type AuditsQuery = z.infer<typeof AuditsQuery>;

export const FINDING_STATUSES = ['open', 'acknowledged', 'resolved'] as const;

export const FindingsQuery = z.object({ ...pageQuery, checks: listFilter, statuses: listFilter });
export type FindingsQuery = z.infer<typeof FindingsQuery>;

export const FindingUpdate = z.object({
  status: z.literal('acknowledged', { error: 'value_is_invalid' }),
  note: optionalText({ max: 5000 }),
});
export type FindingUpdate = z.infer<typeof FindingUpdate>;

const Audit = z.object({
  svc_id: z.string(),
  mode: z.enum(AUDIT_MODES),
  status: z.enum(['pending', 'running', 'succeeded', 'failed', 'canceled']),
  progress: z.object({ done: z.int(), total: z.int(), percent: z.int() }),
  findings_count: z.int(),
  new_findings_count: z.int(),
  checks: z.array(z.object({ code: z.string(), count: z.int(), new_count: z.int(), ms: z.int() })),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  error: z.unknown(),
});
export const AuditEnvelope = z.object({ audit: Audit });
export const AuditList = z.object({ audits: z.array(Audit), meta: PageMeta });

const FindingView = z.object({
  svc_id: z.string(),
  check: z.string(),
  status: z.enum(FINDING_STATUSES),
  resource_type: z.string(),
  svc_resource_id: z.string(),
  expected: z.string().nullable(),
  actual: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  first_seen_at: z.string(),
  last_seen_at: z.string(),
  note: z.string().nullable(),
});
export const FindingEnvelope = z.object({ audit_finding: FindingView });
export const FindingList = z.object({ audit_findings: z.array(FindingView), meta: PageMeta });
