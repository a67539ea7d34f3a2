import { type ApiLogRow, writeApiLogs } from '../../../platform/api-log/write-api-logs.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';

/** Handler of `api-log.write`: rows of requests that the ingress refused, in one statement (logs.md#storage). */
export const auditHandlers = (sql: Sql): Pick<Handlers, 'api-log.write'> => ({
  'api-log.write': ({ rows }) => writeApiLogs(sql, rows as ApiLogRow[], realNow()),
});
