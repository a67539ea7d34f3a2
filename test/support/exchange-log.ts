import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from '../../src/platform/db/connect.ts';

/** One request and its answer, as they went over the wire under the prefix of the interface. */
export interface Exchange {
  method: string;
  path: string;
  status: number;
  requestBody: unknown;
  responseBody: unknown;
  headers: Record<string, unknown>;
}

/** Folder where the contract's tests leave what they exchanged and what was notified, one JSON object a line. */
const FOLDER = process.env.CONTRACT_LOG;
/** Whether all other tests do so too: many of them send on purpose what the contract does not foresee. */
export const logsEverything = process.env.CONTRACT_LOG_ALL !== undefined;

// Routes beside the contract that its reader takes for events by their transaction id (beyond 0).
const TAKEN_FOR_EVENTS = /\/events\/(unmatched|corrections)(\?|$)/;

/** Notes an exchange when the run is logged. */
export function logExchange(exchange: Exchange): void {
  if (TAKEN_FOR_EVENTS.test(exchange.path)) return;
  append('exchanges.ndjson', JSON.stringify(exchange));
}

/** Notes everything that a database has to tell, when the run is logged. */
export async function logNotifications(sql: Sql): Promise<void> {
  if (FOLDER === undefined) return;
  const rows = await sql<{ payload: string }[]>`select payload from webhook_events order by position`;
  for (const { payload } of rows) append('notifications.ndjson', payload);
}

function append(file: string, line: string): void {
  if (FOLDER !== undefined) appendFileSync(join(FOLDER, file), `${line}\n`);
}
