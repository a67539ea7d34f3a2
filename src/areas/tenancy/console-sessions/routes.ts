import type { Operation } from '../../../platform/operation.ts';
import { endConsoleSession } from './commands.ts';
import { showConsoleSessions } from './reads.ts';
import { ConsoleSessionEnvelope, ConsoleSessionList, ConsoleSessionsQuery } from './schema.ts';

const common = { permission: 'api_key', tag: 'console_sessions' } as const;

export const consoleSessionOperations: Operation[] = [
  {
    ...common,
    name: 'findAllConsoleSessions',
    fresh: true,
    method: 'get',
    path: '/console_sessions',
    summary: 'List the browsers that are signed in to the console for this organization',
    kind: 'read',
    query: ConsoleSessionsQuery,
    answer: ConsoleSessionList,
    run: showConsoleSessions,
  },
  {
    ...common,
    name: 'destroyConsoleSession',
    method: 'delete',
    path: '/console_sessions/:svc_id',
    summary: 'Sign a browser out of this organization',
    kind: 'command',
    answer: ConsoleSessionEnvelope,
    run: endConsoleSession,
  },
];
