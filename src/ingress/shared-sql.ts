import type { PendingQuery } from 'postgres';
import type { Sql, Tx } from '../platform/db/connect.ts';
import type { OrganizationId } from '../platform/ids.ts';
import type { Ended } from './ending.ts';
import type { FairGate } from './fair-gate.ts';

/** Fields that the driver stores on a statement, or on a fragment, which is never executed by itself. */
interface Statement extends PendingQuery<never[]> {
  executed: boolean;
  handler: Handler;
  canceller: ((statement: Statement) => Promise<void>) | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}
type Handler = ((statement: Statement) => void) & { debug?: unknown };

/**
 * Delay after an answer before a running statement is cancelled. Postgres cancels whatever the connection runs when the
 * request arrives, which for a statement that is about to end may be the next one of another request.
 */
const CANCEL_AFTER_MS = 1000;

/**
 * The pool for one read of an organization: its statements wait for the organization's share of the connections; once
 * `signal` is aborted waiting statements are dropped, and those still running a second later are cancelled in Postgres.
 *
 * gate shared by all reads of this process, with one key for each organization
 */
export function sharedSql(
  sql: Sql,
  gate: FairGate,
  { organizationId, signal }: { organizationId: OrganizationId; signal: Ended },
): Sql {
  const made = new Set<Statement>();
  const cancel = (statement: Statement) => {
    if (!statement.executed || !statement.canceller) return;
    // The outcome of cancelling is ignored: Postgres may be away, and the statement's own failure shows it.
    statement.canceller(statement).catch(() => {});
    statement.canceller = null;
  };
  const cancelLater = (cancelAll: () => void) => void setTimeout(cancelAll, CANCEL_AFTER_MS).unref();
  signal.addEventListener('abort', () => cancelLater(() => made.forEach(cancel)), { once: true });

  /** Cancels a statement that starts for an answer that was already given. */
  const follow = (statement: Statement) => {
    made.add(statement);
    if (signal.aborted) cancelLater(() => cancel(statement));
  };

  /** Holds a place of the share from sending the statement until it is answered. */
  function inTurn(statement: Statement): void {
    const { handler } = statement;
    const waiting = (each: Statement) => {
      gate.enter(organizationId, signal).then(
        (leave) => {
          settling(each, leave);
          handler(each);
        },
        (error: unknown) => each.reject(error),
      );
    };
    statement.handler = Object.assign(waiting, { debug: handler.debug });
  }

  function wrapped<Target extends Sql | Tx>(target: Target, isPool: boolean): Target {
    return new Proxy(target, {
      apply(fn, self, args) {
        const result = Reflect.apply(fn as never, self, args) as Statement;
        if (!isTemplate(args[0])) return result;
        if (isPool) inTurn(result);
        follow(result);
        return result;
      },
      get(from, name) {
        if (name === 'begin' && isPool) return begin;
        const value = Reflect.get(from, name) as unknown;
        if (name !== 'savepoint') return value;
        return (...args: unknown[]) => (value as (...given: unknown[]) => unknown)(...withWrapped(args));
      },
    });
  }

  async function begin(...args: unknown[]): Promise<unknown> {
    const leave = await gate.enter(organizationId, signal);
    try {
      return await (sql.begin as (...given: unknown[]) => Promise<unknown>)(...withWrapped(args));
    } finally {
      leave();
    }
  }

  const withWrapped = (args: unknown[]): unknown[] => {
    const work = args.at(-1) as (tx: Tx) => unknown;
    return [...args.slice(0, -1), (tx: Tx) => work(wrapped(tx, false))];
  };

  return wrapped(sql, true);
}

/** Calls `done` when the driver settles a statement, with success or failure. */
function settling(statement: Statement, done: () => void): void {
  for (const name of ['resolve', 'reject'] as const) {
    const settle = statement[name];
    statement[name] = (result: unknown) => {
      done();
      settle(result);
    };
  }
}

const isTemplate = (value: unknown): boolean => Array.isArray(value) && 'raw' in value;
