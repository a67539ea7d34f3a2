import postgres from 'postgres';
import { Temporal } from 'temporal-polyfill';
import { instantOfStored, instantText } from '../../engine/calendar/instant-text.ts';
import { Decimal } from '../../engine/money/decimal.ts';
import { endedWithItsWork } from './ended-with-its-work.ts';
import { openPrimaryFinder } from './primary-finder.ts';
import { serversOf } from './servers-of-address.ts';
import { isPooled, sessionSettings } from './session-settings.ts';

/**
 * Types of columns: numeric ↔ Decimal, date ↔ PlainDate, timestamptz ↔ Instant (microseconds), int8 → safe integer or
 * an error. `sum(bigint)` arrives as numeric.
 */
const types = {
  numeric: {
    to: 1700,
    from: [1700],
    serialize: (value: Decimal | string | number) => (typeof value === 'object' ? value.toFixed() : String(value)),
    parse: (text: string) => new Decimal(text),
  },
  day: {
    to: 1082,
    from: [1082],
    serialize: (value: Temporal.PlainDate | string) => value.toString(),
    parse: (text: string) => Temporal.PlainDate.from(text),
  },
  date: {
    to: 1184,
    from: [1184],
    serialize: (value: Temporal.Instant | string) => (typeof value === 'string' ? value : instantText(value)),
    parse: instantOfStored,
  },
  bigint: {
    to: 20,
    from: [20],
    serialize: (value: number | string) => String(value),
    parse: (text: string) => {
      const value = Number(text);
      if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond a safe integer`);
      return value;
    },
  },
} satisfies Record<string, postgres.PostgresType>;

// The values that queries accept beside the driver's own; results have the row type of each query.
type Accepted = { numeric: Decimal; day: Temporal.PlainDate; date: Temporal.Instant };

export type Sql = postgres.Sql<Accepted>;
export type Tx = postgres.TransactionSql<Accepted>;
/** A pool or a transaction, on which a query runs. */
export type Db = Sql | Tx;
export type SavepointTx = Tx;
/** A fragment of a statement. */
export type Fragment = postgres.Fragment;

export interface DatabaseOptions {
  schema?: string;
  connections?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
  /** Time after which Postgres cancels a statement. */
  statementTimeoutMs?: number;
  /**
   * Called with every statement before it is sent: tests count round trips with it (storing-events.md#statement (6)).
   * The driver turns the parameters into texts in place when it sends them.
   */
  onStatement?: (text: string, parameters: unknown[]) => void;
  /** Called when a connection was closed: lost, or idle for long. */
  onClose?: () => void;
}

/** What a pool was opened with. */
interface Opened {
  schema: string;
  isPooled: boolean;
}
const opened = new WeakMap<Sql, Opened>();

/** The schema whose tables the sessions of a pool find, and whether they are lent by a pooler. */
export const openedWith = (sql: Sql): Opened => {
  const known = opened.get(sql);
  if (!known) throw new Error('only a pool of connectDatabase is known');
  return known;
};

/**
 * A pool of connections. Notices are dropped; a lost server is reconnected with back-off by the driver. Each session
 * has the settings of `sessionSettings`, sent at its start; behind a pooler, which refuses or drops them, its role has
 * them. Of an address with several servers each connection goes to the one that is the primary by then.
 */
export function connectDatabase(url: string, options: DatabaseOptions = {}): Sql {
  const { onStatement, onClose, schema = 'public' } = options;
  const settings = sessionSettings(schema, options.statementTimeoutMs);
  const servers = serversOf(url);
  const finder = servers.length > 1 ? openPrimaryFinder(servers) : undefined;
  const sql = postgres(servers[0]!, {
    // Not in the driver's types.
    ...(finder ? ({ socket: finder.connect } as object) : {}),
    max: options.connections ?? 12,
    types: types as unknown as Record<string, postgres.PostgresType>,
    onnotice: () => {},
    connect_timeout: 5,
    idle_timeout: 60,
    max_lifetime: 60 * 60,
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 2),
    connection: {
      application_name: options.name ?? 'meterstone',
      // Poolers hand on the time zone, and no session may count days in another one. All are texts, also where the
      // driver's type wants numbers.
      ...((isPooled(url) ? { TimeZone: settings.TimeZone } : settings) as object),
    },
    ...(onClose ? { onclose: onClose } : {}),
    ...(onStatement
      ? { debug: (_connection: number, query: string, parameters: unknown[]) => onStatement(query, parameters) }
      : {}),
  }) as unknown as Sql;
  sql.begin = endedWithItsWork(sql.begin);
  if (finder) sql.end = closesFirst(sql.end, finder.close);
  opened.set(sql, { schema, isPooled: isPooled(url) });
  return sql;
}

const closesFirst =
  (end: Sql['end'], close: () => void): Sql['end'] =>
  (options) => {
    close();
    return end(options);
  };
