import type { Operation } from '../../../platform/operation.ts';
import { showSecurityLog, showSecurityLogs } from './reads.ts';
import { SecurityLogEnvelope, SecurityLogList, SecurityLogsQuery } from './schema.ts';

const common = { permission: 'security_log', tag: 'security_logs', method: 'get', kind: 'read' } as const;

export const securityLogOperations: Operation[] = [
  {
    ...common,
    name: 'findAllSecurityLogs',
    path: '/security_logs',
    summary: 'List what happened to keys, endpoints and connections',
    query: SecurityLogsQuery,
    answer: SecurityLogList,
    run: showSecurityLogs,
  },
  {
    ...common,
    name: 'findSecurityLog',
    path: '/security_logs/:log_id',
    summary: 'Retrieve a line of the security log',
    answer: SecurityLogEnvelope,
    run: showSecurityLog,
  },
];
