import { Temporal } from 'temporal-polyfill';
import { operationsByName } from '../../src/operations.ts';
import type { Context } from '../../src/platform/context.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { reactions } from '../../src/reactions.ts';
import type { TestService } from './service.ts';

/** Statements that nothing holds back each find a connection of their own. */
const STATEMENTS_AT_ONCE = 8;

/**
 * How a read went: its statements, and its round trips; statements sent together, without waiting for one of them, are
 * one.
 */
export interface Counted<Body> {
  statements: string[];
  roundTrips: number;
  body: Body;
}

/** Answers a read of the API beside the service and counts the statements that it took, and its round trips. */
export async function countStatements(
  service: TestService,
  organizationId: string,
  operation: string,
  input: { now: string; query?: Record<string, unknown>; [param: string]: unknown },
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
): Promise<Counted<any>> {
  const { now, query, ...params } = input;
  const { run, query: schema } = operationsByName.get(operation)!;
  return countReads(service, (sql) =>
    run(readingAt(service, sql, organizationId, now), { ...params, query: schema?.parse(query ?? {}) }),
  );
}

/** The context of a read at an instant. */
export const readingAt = (service: TestService, sql: Sql, organizationId: string, now: string) =>
  ({
    organizationId,
    sandbox: true,
    actor: { source: 'api', apiKeyId: null },
    db: sql,
    config: service.config,
    log: createLog({ level: 'silent', process: 'test' }),
    reactions,
    now: () => Temporal.Instant.from(now),
    record: () => {},
    after: () => {},
  }) as unknown as Context;

/** A pool beside the service whose statements and round trips are counted since `restart`. */
export function countingPool(service: TestService, connections: number) {
  const statements: string[] = [];
  const turns = new Set<number>();
  let turn = 0;
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections,
    onStatement: (text) => {
      statements.push(text);
      turns.add(turn);
      setImmediate(() => (turn += 1));
    },
  });
  return {
    sql,
    statements,
    roundTrips: () => turns.size,
    restart() {
      statements.length = 0;
      turns.clear();
    },
  };
}

/** Reads once to open the connections, then once more and counts. */
export async function countReads<Body>(
  service: TestService,
  read: (sql: Sql) => Promise<Body>,
): Promise<Counted<Body>> {
  const { sql, statements, roundTrips, restart } = countingPool(service, STATEMENTS_AT_ONCE);
  try {
    await read(sql);
    restart();
    const body = await read(sql);
    return { statements, roundTrips: roundTrips(), body };
  } finally {
    await sql.end();
  }
}
