import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { TEST_TYPE } from '../../src/areas/messaging/webhooks/writes.ts';
import type { Sql } from '../../src/platform/db/connect.ts';
import { NAMED_ONLY_WEBHOOK_TYPES } from '../../src/platform/records/write-records.ts';
import { ruleBeyond, ruleBeyondBody } from '../contract/beyond-contract.ts';

/** One request and its answer, as they went over the wire under the prefix of the interface. */
export interface Exchange {
  method: string;
  path: string;
  status: number;
  requestBody: unknown;
  responseBody: unknown;
  headers: Record<string, unknown>;
}

/** Folder where a test run leaves what it exchanged and what was notified, one JSON object a line. */
const FOLDER = process.env.CONTRACT_LOG;
if (FOLDER !== undefined) mkdirSync(FOLDER, { recursive: true });

// Routes beside the contract that its reader takes for events by their transaction id (other-routes.md#common-ground).
const TAKEN_FOR_EVENTS = /\/events\/(unmatched|corrections)(\?|$)/;

type Listener = (exchange: Exchange) => void;
const listeners = new Set<Listener>();

/** Shows every exchange of this test file to `listener`, whether the run is logged or not. Called outside of tests. */
export function onExchange(listener: Listener): void {
  listeners.add(listener);
  afterAll(() => listeners.delete(listener));
}

/**
 * Notes an exchange when the run is logged. `named`: the rule by which it goes beyond the contract, as the test says
 * itself. Bodies of some tests have millions of values, so an exchange that nobody looks at is not made.
 */
export function logExchange(makeExchange: () => Exchange, named?: string): void {
  if (FOLDER === undefined && listeners.size === 0) return;
  const exchange = makeExchange();
  for (const listener of listeners) listener(exchange);
  if (FOLDER === undefined || TAKEN_FOR_EVENTS.test(exchange.path)) return;
  const rule = named ?? ruleBeyond(exchange);
  if (rule === undefined) append('exchanges.ndjson', JSON.stringify(exchange));
  else append('beyond.txt', `${exchange.method} ${exchange.path.split('?')[0]}\t${rule}`);
}

// Types of ours, sent to who asks for them alone (other-routes.md#common-ground, webhooks.md#delivery-log).
const OWN_TYPES = [...NAMED_ONLY_WEBHOOK_TYPES, TEST_TYPE];

/** Notes everything that a database has to tell of the contract's types, when the run is logged. */
export async function logNotifications(sql: Sql): Promise<void> {
  if (FOLDER === undefined) return;
  const rows = await sql<{ payload: string }[]>`
    select payload from webhook_events where webhook_type <> all(${OWN_TYPES}) order by position`;
  for (const { payload } of rows) {
    const rule = ruleBeyondBody(JSON.parse(payload));
    if (rule === undefined) append('notifications.ndjson', payload);
    else append('beyond.txt', `webhook\t${rule}`);
  }
}

function append(file: string, line: string): void {
  appendFileSync(join(FOLDER!, file), `${line}\n`);
}
