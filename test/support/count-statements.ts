import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../src/platform/context.ts';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { operationsByName } from '../../src/resources/operations.ts';
import type { TestService } from './service.ts';

/** Statements that nothing holds back each find a connection of their own. */
const STATEMENTS_AT_ONCE = 8;

/**
 * Answers a read of the API beside the service and counts the statements that it took, and its round trips: statements
 * that were sent together, without waiting for one of them, are one.
 */
export async function countStatements(
  service: TestService,
  organizationId: string,
  operation: string,
  input: { now: string; query?: Record<string, unknown>; [param: string]: unknown },
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
): Promise<{ statements: string[]; roundTrips: number; body: any }> {
  const statements: string[] = [];
  const turns = new Set<number>();
  let turn = 0;
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: STATEMENTS_AT_ONCE,
    onStatement: (text) => {
      statements.push(text);
      turns.add(turn);
      setImmediate(() => (turn += 1));
    },
  });
  try {
    const { now, query, ...params } = input;
    const { run, query: schema } = operationsByName.get(operation)!;
    const context = {
      organizationId,
      sandbox: true,
      actor: { source: 'api', apiKeyId: null },
      db: sql,
      config: service.config,
      log: createLog({ level: 'silent', process: 'test' }),
      now: () => Temporal.Instant.from(now),
      record: () => {},
      after: () => {},
    } as unknown as Context;
    const answer = () => run(context, { ...params, query: schema?.parse(query ?? {}) });
    await answer(); // opens the connections
    statements.length = 0;
    turns.clear();
    const body = await answer();
    return { statements, roundTrips: turns.size, body };
  } finally {
    await sql.end();
  }
}
