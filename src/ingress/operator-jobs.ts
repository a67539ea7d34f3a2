import { createHash, timingSafeEqual } from 'node:crypto';
import type { Express, Request, Response } from 'express';
import { realNow } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Log } from '../platform/log/log.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { refuse } from '../platform/refusal.ts';
import { milliseconds } from '../platform/schema/view.ts';
import { type QueueName, queues } from '../queues.ts';
import { claimTick, listLastTicks } from '../resources/periodic-jobs/queries.ts';
import { tickJobId } from '../resources/periodic-jobs/tick-job.ts';
import { jobView } from '../resources/periodic-jobs/view.ts';
import { schedule } from '../schedule.ts';
import { BASE_PATH } from './answer-request.ts';
import { pendingSince } from './pending-since.ts';
import type { EdgeLocals, Limiters } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send.ts';

interface JobsDeps {
  sql: Sql;
  producer: Producer;
  config: Config;
  log: Log;
  limiters: Pick<Limiters, 'address'>;
}

const JOBS_PATH = `${BASE_PATH}/operations/jobs`;

/**
 * The operator's routes: the periodic jobs with their last runs and the queues, and a run of one at once. They ask for the
 * token of OPERATOR_TOKEN instead of an API key; without that setting they are unknown routes. Calls without the token count
 * for the caller's address.
 *
 * Rule: beyond 14 "periodic jobs".
 */
export function mountOperatorJobs(app: Express, deps: JobsDeps): void {
  const token = deps.config.OPERATOR_TOKEN;
  if (token === undefined) return;
  const answering = (run: (request: Request) => Promise<object>) => (request: Request, response: Response) =>
    answer(deps, token, run, request, response);
  app.get(
    JOBS_PATH,
    answering(() => showJobs(deps)),
  );
  app.post(
    `${JOBS_PATH}/:name/run`,
    answering(({ params }) => runJob(deps, String(params.name))),
  );
}

async function answer(
  deps: JobsDeps,
  token: string,
  run: (request: Request) => Promise<object>,
  request: Request,
  response: Response,
): Promise<void> {
  const requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', requestId);
  let outcome: { status: number; body: object; headers?: Record<string, string> };
  try {
    if (!isToken(request.headers.authorization, token)) {
      await deps.limiters.address(request, response);
      throw refuse.unauthorized();
    }
    outcome = { status: 200, body: await run(request) };
  } catch (error) {
    outcome = answerOfError(error, deps.log, { requestId, operation: 'operatorJobs' });
  }
  const { status, body, headers } = outcome;
  send(response, { status, text: JSON.stringify(body), headers }, (response.locals as EdgeLocals).rate);
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const isToken = (header: string | undefined, token: string): boolean =>
  timingSafeEqual(hashOf(header ?? ''), hashOf(`Bearer ${token}`));

async function showJobs({ sql, producer, config }: JobsDeps) {
  const rows = schedule(config);
  const now = realNow();
  const [last, depths] = await Promise.all([
    listLastTicks(
      sql,
      rows.map(({ job }) => job),
    ),
    Promise.all((Object.keys(queues) as QueueName[]).map((name) => depthOf(producer, name))),
  ]);
  const lastOf = new Map(last.map((tick) => [tick.job, tick]));
  return { jobs: rows.map((row) => jobView(row, lastOf.get(row.job), now)), queues: depths };
}

async function depthOf(producer: Producer, name: QueueName) {
  const queue = producer.queue(name);
  const [counts, since] = await Promise.all([
    queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
    pendingSince(queue),
  ]);
  return {
    name,
    depth: (counts.waiting ?? 0) + (counts.prioritized ?? 0),
    active: counts.active ?? 0,
    delayed: counts.delayed ?? 0,
    failed: counts.failed ?? 0,
    oldest_waiting_at: since && milliseconds(since),
  };
}

/**
 * A tick of a job at once, as if its time had come; the schedulers run it. It is skipped while the former run still works.
 *
 * @throws Refusal 404 job
 */
async function runJob({ sql, producer, config, log }: JobsDeps, name: string) {
  const row = schedule(config).find(({ job }) => job === name);
  if (!row) throw refuse.notFound('job');
  const now = realNow().round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
  if (await claimTick(sql, name, now, now)) {
    await producer.add('periodic.tick', { job: name, at: now.toString() }, { id: tickJobId(name, now) });
    log.info({ job: name, at: now.toString() }, 'run started by the operator');
  }
  const [last] = await listLastTicks(sql, [name]);
  return { job: jobView(row, last, now) };
}
