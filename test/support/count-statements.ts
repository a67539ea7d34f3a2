import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../src/platform/context.ts';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { operationsByName } from '../../src/resources/operations.ts';
import type { TestService } from './service.ts';

/** Answers a read of the API beside the service and counts the statements that it took. */
export async function countStatements(
  service: TestService,
  organizationId: string,
  operation: string,
  input: { now: string; query?: Record<string, unknown>; [param: string]: unknown },
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
): Promise<{ statements: string[]; body: any }> {
  const statements: string[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 1,
    onStatement: (text) => statements.push(text),
  });
  try {
    await sql`select 1`;
    statements.length = 0;
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
    const body = await run(context, { ...params, query: schema?.parse(query ?? {}) });
    return { statements, body };
  } finally {
    await sql.end();
  }
}
