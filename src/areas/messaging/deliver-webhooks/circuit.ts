import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import type { EndpointId } from './waiting-endpoints.ts';

/** Failures in a row that open the circuit of an endpoint (webhooks.md#sending, rule 6). */
export const CIRCUIT_OPENS_AT = 20;
/** One probe is sent in this time while other deliveries wait as rows. */
export const CIRCUIT_MS = 60_000;

export const isOpen = (endpoint: { consecutive_failures: number }): boolean =>
  endpoint.consecutive_failures >= CIRCUIT_OPENS_AT;

/**
 * Takes the right to the one probe of an open circuit for the next minute.
 *
 * @returns false when another worker has it, or when the circuit has closed meanwhile
 */
export async function claimProbe(
  sql: Sql,
  { organization_id, webhook_endpoint_id }: EndpointId,
  now: Temporal.Instant,
): Promise<boolean> {
  const claimed = await sql`
    update webhook_endpoints set circuit_open_until = ${now.add({ milliseconds: CIRCUIT_MS })}
    where organization_id = ${organization_id} and id = ${webhook_endpoint_id}
      and consecutive_failures >= ${CIRCUIT_OPENS_AT} and (circuit_open_until is null or circuit_open_until <= ${now})
    returning 1`;
  return claimed.length > 0;
}
