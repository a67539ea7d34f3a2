import { openClient } from '../../data/client.ts';
import { eventJson } from '../../data/event-source.ts';
import { startProcess } from '../../harness/processes.ts';
import type { Findings } from '../../harness/report.ts';
import type { IngestRun } from './run.ts';

const REPLAYS = 1000;
/** An amount that no event of the bench has. */
const OTHER_AMOUNT = 99_999;

/** What was answered is what is stored, and a repeated event changes nothing (benchmark.md#harness, correctness). */
export async function checkStored(run: IngestRun, findings: Findings): Promise<void> {
  const { environment, organization, unknown } = run;
  const { sql } = environment;
  const [row] = await sql<{ rows: number; unknown: number; counted: number }[]>`
    select (select count(*) from events where organization_id = ${organization.id})::int as rows,
      (select count(*) from events where organization_id = ${organization.id}
        and transaction_id = any (${unknown}))::int as unknown,
      (select sum(events_count) from usage_buckets bucket join usage_shapes shape on shape.id = bucket.shape_id
        where bucket.organization_id = ${organization.id} and shape.state = 'live')::int as counted`;
  const { rows, counted } = row!;
  findings.checks.push(
    { what: 'stored rows = answers', expected: run.mustBeStored, found: rows - row!.unknown },
    { what: 'sum of buckets = stored rows', expected: rows, found: counted },
  );
  await checkReplays(run, findings, rows);
}

async function checkReplays(run: IngestRun, findings: Findings, rowsBefore: number): Promise<void> {
  const { environment, organization } = run;
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const client = openClient(ingress.url, organization.apiKey);
  const source = run.source('replay');
  const numbers = Array.from({ length: REPLAYS }, (_, number) => number);
  const sendAll = async (amount?: number) => {
    const answers = await Promise.all(
      numbers.map((number) => client.post('/events', `{"event":${eventJson(source, number, amount)}}`)),
    );
    return (status: number, replayed: boolean) =>
      answers.filter((answer) => answer.status === status && answer.replayed === replayed).length;
  };
  const made = await sendAll();
  const replayed = await sendAll();
  const refused = await sendAll(OTHER_AMOUNT);
  const [row] = await environment.sql<{ rows: number }[]>`
    select count(*)::int as rows from events where organization_id = ${organization.id}`;
  findings.checks.push(
    { what: 'new events answered 200', expected: REPLAYS, found: made(200, false) },
    { what: 'identical events answered 200 and marked as replayed', expected: REPLAYS, found: replayed(200, true) },
    { what: 'other events under the same key answered 422', expected: REPLAYS, found: refused(422, false) },
    { what: 'rows after the replays', expected: rowsBefore + REPLAYS, found: row!.rows },
  );
  await client.close();
  await Promise.all([ingress.stop(), workers.stop()]);
}
