import { appendFileSync } from 'node:fs';

/** One request and its answer, as they went over the wire under the prefix of the interface. */
export interface Exchange {
  method: string;
  path: string;
  status: number;
  requestBody: unknown;
  responseBody: unknown;
  headers: Record<string, unknown>;
}

/** Files to which a test run appends, one JSON object a line, what it exchanged and which notifications it caused. */
const EXCHANGES = process.env.EXCHANGES_LOG;
const NOTIFICATIONS = process.env.NOTIFICATIONS_LOG;

export const logsExchanges = EXCHANGES !== undefined;
export const logsNotifications = NOTIFICATIONS !== undefined;

/** Notes an exchange when the run is logged. */
export function logExchange(exchange: Exchange): void {
  if (EXCHANGES !== undefined) appendFileSync(EXCHANGES, `${JSON.stringify(exchange)}\n`);
}

/** Notes bodies of notifications when the run is logged. */
export function logNotifications(bodies: readonly object[]): void {
  if (NOTIFICATIONS !== undefined)
    for (const body of bodies) appendFileSync(NOTIFICATIONS, `${JSON.stringify(body)}\n`);
}
