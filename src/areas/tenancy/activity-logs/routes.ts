import type { Operation } from '../../../platform/operation.ts';
import { showActivityLog, showActivityLogs } from './reads.ts';
import { ActivityLogEnvelope, ActivityLogList, ActivityLogsQuery } from './schema.ts';

const common = { permission: 'activity_log', tag: 'activity_logs', method: 'get', kind: 'read' } as const;

export const activityLogOperations: Operation[] = [
  {
    ...common,
    name: 'findAllActivityLogs',
    path: '/activity_logs',
    summary: 'List what happened to your records',
    query: ActivityLogsQuery,
    answer: ActivityLogList,
    run: showActivityLogs,
  },
  {
    ...common,
    name: 'findActivityLog',
    path: '/activity_logs/:activity_id',
    summary: 'Retrieve an entry of the audit trail',
    answer: ActivityLogEnvelope,
    run: showActivityLog,
  },
];
