import type { Operation } from '../../../platform/operation.ts';
import { showApiLog, showApiLogs } from './reads.ts';
import { ApiLogEnvelope, ApiLogList, ApiLogsQuery } from './schema.ts';

const common = { permission: 'api_log', tag: 'api_logs', method: 'get', kind: 'read' } as const;

export const apiLogOperations: Operation[] = [
  {
    ...common,
    name: 'findAllApiLogs',
    path: '/api_logs',
    summary: 'List the writes that were sent with your keys',
    query: ApiLogsQuery,
    answer: ApiLogList,
    run: showApiLogs,
  },
  {
    ...common,
    name: 'findApiLog',
    path: '/api_logs/:request_id',
    summary: 'Retrieve a logged write',
    answer: ApiLogEnvelope,
    run: showApiLog,
  },
];
