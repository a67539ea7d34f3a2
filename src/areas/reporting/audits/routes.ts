import type { Operation } from '../../../platform/operation.ts';
import { createAudit, showAudit, showAudits, showFindings, updateFinding } from './commands.ts';
import {
  AuditCreate,
  AuditEnvelope,
  AuditList,
  AuditsQuery,
  FindingEnvelope,
  FindingList,
  FindingsQuery,
  FindingUpdate,
} from './schema.ts';

const shared = { permission: 'audit', tag: 'audits' } as const;

export const auditOperations: Operation[] = [
  {
    ...shared,
    name: 'findAllAuditFindings',
    method: 'get',
    path: '/audits/findings',
    summary: 'List what the auditor found in the books',
    query: FindingsQuery,
    answer: FindingList,
    kind: 'read',
    run: showFindings,
  },
  {
    ...shared,
    name: 'updateAuditFinding',
    method: 'put',
    path: '/audits/findings/:svc_id',
    summary: 'Acknowledge a finding',
    root: 'audit_finding',
    body: FindingUpdate,
    answer: FindingEnvelope,
    kind: 'command',
    run: updateFinding,
  },
  {
    ...shared,
    name: 'findAllAudits',
    method: 'get',
    path: '/audits',
    summary: 'List runs of the auditor',
    query: AuditsQuery,
    answer: AuditList,
    kind: 'read',
    run: showAudits,
  },
  {
    ...shared,
    name: 'createAudit',
    method: 'post',
    path: '/audits',
    summary: 'Have the books audited now',
    root: 'audit',
    bodyOptional: true,
    body: AuditCreate,
    answer: AuditEnvelope,
    kind: 'command',
    run: createAudit,
  },
  {
    ...shared,
    name: 'findAudit',
    method: 'get',
    path: '/audits/:svc_id',
    summary: 'Retrieve a run of the auditor',
    answer: AuditEnvelope,
    kind: 'read',
    run: showAudit,
  },
];
