import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import { claimProbe, type EndpointOfDelivery } from './sql.ts';

/** So many failures in a row open the circuit of an endpoint (performance-design 7, rule 6). */
export const CIRCUIT_OPENS_AT = 20;
/** One probe in this time, the others wait. */
export const CIRCUIT_MS = 60_000;
/** Spread of those who wait, so that they do not all come at once. */
const SPREAD_MS = 5000;

export const isOpen = (endpoint: EndpointOfDelivery): boolean => endpoint.consecutive_failures >= CIRCUIT_OPENS_AT;

/** Null: this job has the probe. Else how long it has to stay away: not at all when the circuit has closed meanwhile. */
export async function circuitWaitMs(
  sql: Sql,
  endpoint: EndpointOfDelivery,
  now: Temporal.Instant,
): Promise<number | null> {
  const spreadMs = Math.floor(SPREAD_MS * Math.random());
  const openMs = (endpoint.circuit_open_until?.epochMilliseconds ?? 0) - now.epochMilliseconds;
  if (openMs > 0) return openMs + spreadMs;
  const probe = await claimProbe(sql, endpoint, CIRCUIT_OPENS_AT, now, now.add({ milliseconds: CIRCUIT_MS }));
  if (probe === 'claimed') return null;
  return probe === 'closed' ? 0 : CIRCUIT_MS + spreadMs;
}
