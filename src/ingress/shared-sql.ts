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
export const sharedSql = (sql: Sql, gate: FairGate, read: ReadOfOrganization): Sql =>
  new Proxy(sql, new SharedPool(sql, gate, read)) as Sql;

interface ReadOfOrganization {
  organizationId: OrganizationId;
  signal: Ended;
}

/** Follows the statements of one read until its end. Every read makes one, so it holds little before the first. */
class SharedPool implements ProxyHandler<Sql> {
  readonly #sql: Sql;
  readonly #gate: FairGate;
  readonly #read: ReadOfOrganization;
  #made: Set<Statement> | undefined;

  constructor(sql: Sql, gate: FairGate, read: ReadOfOrganization) {
    this.#sql = sql;
    this.#gate = gate;
    this.#read = read;
  }

  apply(fn: Sql, self: unknown, args: unknown[]): unknown {
    const result = Reflect.apply(fn as never, self, args) as Statement;
    if (!isTemplate(args[0])) return result;
    this.#inTurn(result);
    this.#follow(result);
    return result;
  }

  get(from: Sql, name: string | symbol): unknown {
    return name === 'begin' ? (...args: unknown[]) => this.#begin(args) : Reflect.get(from, name);
  }

  async #begin(args: unknown[]): Promise<unknown> {
    const { organizationId, signal } = this.#read;
    const leave = await this.#gate.enter(organizationId, signal);
    try {
      return await (this.#sql.begin as (...given: unknown[]) => Promise<unknown>)(...this.#withFollowed(args));
    } finally {
      leave();
    }
  }

  /** Holds a place of the share from sending the statement until it is answered. */
  #inTurn(statement: Statement): void {
    const { organizationId, signal } = this.#read;
    const { handler } = statement;
    const waiting = (each: Statement) => {
      this.#gate.enter(organizationId, signal).then(
        (leave) => {
          settling(each, leave);
          handler(each);
        },
        (error: unknown) => each.reject(error),
      );
    };
    statement.handler = Object.assign(waiting, { debug: handler.debug });
  }

  /** Also cancels a statement that starts for an answer that was already given. */
  #follow(statement: Statement): void {
    const { signal } = this.#read;
    if (this.#made === undefined) {
      const made = new Set<Statement>();
      this.#made = made;
      signal.addEventListener('abort', () => cancelLater(() => made.forEach(cancel)), { once: true });
    }
    this.#made.add(statement);
    if (signal.aborted) cancelLater(() => cancel(statement));
  }

  /** Arguments of `begin` or `savepoint` whose work, the last of them, gets a connection that is followed as well. */
  #withFollowed(args: unknown[]): unknown[] {
    const work = args.at(-1) as (tx: Tx) => unknown;
    return [...args.slice(0, -1), (tx: Tx) => work(this.#followed(tx))];
  }

  #followed(tx: Tx): Tx {
    return new Proxy(tx, {
      apply: (fn, self, args) => {
        const result = Reflect.apply(fn as never, self, args) as Statement;
        if (isTemplate(args[0])) this.#follow(result);
        return result;
      },
      get: (from, name) => {
        const value = Reflect.get(from, name) as unknown;
        if (name !== 'savepoint') return value;
        return (...args: unknown[]) => (value as (...given: unknown[]) => unknown)(...this.#withFollowed(args));
      },
    });
  }
}

function cancel(statement: Statement): void {
  if (!statement.executed || !statement.canceller) return;
  // The outcome of cancelling is ignored: Postgres may be away, and the statement's own failure shows it.
  statement.canceller(statement).catch(() => {});
  statement.canceller = null;
}

const cancelLater = (cancelAll: () => void) => void setTimeout(cancelAll, CANCEL_AFTER_MS).unref();

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
