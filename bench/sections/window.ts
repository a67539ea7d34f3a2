import { request } from 'undici';
import { BASE_PATH } from '../../src/ingress/answer-request.ts';
import { runTick } from '../../src/jobs/run-periodic/run-tick.ts';
import { periodicJobs, sweepJobs } from '../../src/periodic-jobs.ts';
import { copyTemplate, createTemplate, makeDue, TICK } from '../data/burst.ts';
import { openClient } from '../data/client.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { untilShapesAreLive } from '../data/shapes.ts';
import { fillWindow } from '../data/window.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';

const SMALL = 20_000;
const REFRESHES_A_ROUND = 5;
const LISTS = ['', 'code=burst_b', 'external_subscription_id=large1', 'external_subscription_id=small1'];
const READS_OF_LIST = 5;

/**
 * G19: an invoice over a window of very many events against one over 20 000, each a draft that is computed and stored
 * again with all its proofs; then lists of the same events, and a check that invoices read no events.
 */
export async function measureWindow(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const { sql } = environment;
  await sql`truncate events, event_keys`;
  const { id, apiKey } = await createBenchOrganization(environment, 'Bench window');
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, apiKey);
  const filled = performance.now();
  await fillWindow(environment, id, [
    { subscription: 'large1', rows: effort.windowRows },
    { subscription: 'small1', rows: SMALL },
  ]);
  await createTemplate(client);
  for (const prefix of ['large', 'small']) await copyTemplate(environment, id, prefix, 1);
  await sql`update customers set invoice_grace_period = 5000 where organization_id = ${id}`;
  await untilShapesAreLive(environment, [id]);
  findings.notes.push(`${effort.windowRows} events were made and rolled up in ${seconds(filled)} s`);

  const runtime = openHarnessRuntime(environment, 'bench window');
  for (const prefix of ['large', 'small']) await makeDue(environment, id, prefix);
  await runTick(runtime, { periodicJobs, sweepJobs } as never, { job: 'bill', at: TICK }, { lastAttempt: true });
  const drafts = await untilDrafts(environment, id);
  const refresh = (name: string) => async () => {
    const times: number[] = [];
    for (let n = 0; n < REFRESHES_A_ROUND; n += 1) {
      const started = performance.now();
      await call(ingress.url, apiKey, 'PUT', `/invoices/${drafts.get(name)}/refresh`);
      times.push(performance.now() - started);
    }
    return median(times);
  };
  const readBefore = await eventsRead(environment);
  const figures = await interleave(effort.rounds, { baseline: refresh('small1'), large: refresh('large1') });
  const read = (await eventsRead(environment)) - readBefore;
  findings.ratios.G19 = ratioOf(figures.large, figures.baseline, figures.isNoisy);
  findings.absolute = {
    [`invoice of ${effort.windowRows} events`]: milliseconds(median(figures.large)),
    [`invoice of ${SMALL} events`]: milliseconds(median(figures.baseline)),
  };
  for (const filters of LISTS) {
    const times: number[] = [];
    for (let n = 0; n < READS_OF_LIST; n += 1) {
      const started = performance.now();
      await call(ingress.url, apiKey, 'GET', `/events?per_page=100&${filters}`);
      times.push(performance.now() - started);
    }
    findings.absolute[`first 100 of /events?${filters}`] = milliseconds(median(times));
  }
  findings.checks.push({ what: 'events read for all these invoices', expected: 0, found: read });
  findings.checks.push(await countedOf(environment, drafts.get('large1')!, effort.windowRows));
  await runtime.close();
  await client.close();
  await Promise.all([ingress.stop(), workers.stop()]);
  return findings;
}

async function call(url: string, apiKey: string, method: 'GET' | 'PUT', path: string): Promise<void> {
  const answer = await request(`${url}${BASE_PATH}${path}`, { method, headers: { authorization: `Bearer ${apiKey}` } });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
}

const POLL_MS = 100;
const WITHIN_MS = 120_000;

/** Ids of the drafts by the subscription that they bill. */
async function untilDrafts({ sql }: Environment, organizationId: string): Promise<Map<string, string>> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const rows = await sql<{ id: string; name: string }[]>`
      select invoice.id, customer.external_id as name from invoices invoice
      join customers customer on customer.id = invoice.customer_id
      where invoice.organization_id = ${organizationId} and invoice.status = 'draft'`;
    if (rows.length === 2) return new Map(rows.map(({ id, name }) => [name, id]));
    if (performance.now() > deadline) throw new Error('the drafts were not made in time');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Rows of events that any statement has read so far; sessions report a second late at most. */
async function eventsRead({ sql, schema }: Environment): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const [row] = await sql<{ count: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::bigint as count from pg_stat_user_tables
    where schemaname = ${schema} and relname = 'events'`;
  return row!.count;
}

async function countedOf({ sql }: Environment, invoiceId: string, expected: number) {
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum((input.events_watermark ->> 'count')::bigint), 0)::bigint as count from fees fee
    join fee_inputs input on input.fee_id = fee.id
    where fee.invoice_id = ${invoiceId} and input.events_watermark ->> 'digest' is not null`;
  return { what: 'events digested in the great window', expected, found: row!.count };
}

const seconds = (started: number): string => ((performance.now() - started) / 1000).toFixed(0);
