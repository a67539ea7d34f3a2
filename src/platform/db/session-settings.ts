/**
 * Settings that each session of the service has, by name, as texts.
 *
 * Rule: several-hosts.md#settings-of-a-session.
 */
export const sessionSettings = (schema: string, statementTimeoutMs = STATEMENT_TIMEOUT_MS) => ({
  TimeZone: 'UTC',
  search_path: schema,
  // Compiling takes longer than the statements here: 18 ms for one that reads nothing in 0.1 ms.
  jit: 'off',
  statement_timeout: `${statementTimeoutMs}ms`,
  idle_in_transaction_session_timeout: '60000ms',
  // The server ends the session of a host that was cut off, and with it its locks, in a minute instead of two hours.
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '60000ms',
});

const STATEMENT_TIMEOUT_MS = 60_000;

const OFF = /[?&]prepare=(?:false|disable)(?=&|$)/;

/**
 * Whether an address says `prepare=false`: it leads to a pooler that lends a connection for one transaction, so nothing
 * of a session lasts, and no start-up parameter may be needed. Also addresses of several hosts.
 *
 * Rule: several-hosts.md#prepared-statements.
 */
export const isPooled = (url: string): boolean => OFF.test(url);

/** The address with `prepare=false`. */
export const pooledUrl = (url: string): string =>
  isPooled(url) ? url : `${url}${url.includes('?') ? '&' : '?'}prepare=false`;
