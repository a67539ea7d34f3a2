import { countSteps, listSteps, reviveSteps, STEP_STATES, type StepState } from '../jobs/after-steps/queries.ts';
import { stepView } from '../jobs/after-steps/view.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Log } from '../platform/log/log.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { stepJob } from '../platform/records/nudge.ts';
import { refuse } from '../platform/refusal.ts';
import type { OperatorRoute } from './operator-routes.ts';
import { type Query, readQuery } from './read-query.ts';

interface StepsDeps {
  sql: Sql;
  producer: Producer;
  log: Log;
}

/** Lists and counts the steps that committed commands still owe, and runs failed ones again. */
export const operatorSteps = (deps: StepsDeps): OperatorRoute[] => [
  { method: 'get', path: '/operations/steps', run: ({ url }) => showSteps(deps, readQuery(url)) },
  { method: 'post', path: '/operations/steps/run', run: ({ url }) => rerun(deps, { job: textOf(readQuery(url).job) }) },
  { method: 'post', path: '/operations/steps/:id/run', run: ({ params }) => rerunOne(deps, String(params.id)) },
];

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

async function showSteps({ sql }: StepsDeps, query: Query) {
  const state = STEP_STATES.find((known) => known === query.state);
  if (query.state !== undefined && state === undefined) throw refuse.invalid({ state: ['value_is_invalid'] });
  const job = textOf(query.job);
  const filter: { state?: StepState; job?: string } = {
    ...(state === undefined ? {} : { state }),
    ...(job === undefined ? {} : { job }),
  };
  const [counts, steps] = await Promise.all([countSteps(sql), listSteps(sql, filter)]);
  return {
    counts: counts.map(({ oldest, ...count }) => ({ ...count, oldest_created_at: oldest.toString() })),
    steps: steps.map(stepView),
  };
}

async function rerun(deps: StepsDeps, which: { id: string } | { job: string | undefined }) {
  const now = realNow();
  const revived = await reviveSteps(deps.sql, which, now);
  await deps.producer.addMany(
    'step.run',
    revived.map((step) => stepJob(step, `${now.epochMilliseconds}`)),
  );
  if (revived.length > 0) deps.log.info({ ...which, steps: revived.length }, 'failed steps run again by the operator');
  return { steps: revived.map(({ id }) => ({ id })) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws Refusal 404 step: unknown, done, or not failed */
async function rerunOne(deps: StepsDeps, id: string) {
  const answer = UUID.test(id) ? await rerun(deps, { id }) : { steps: [] };
  if (answer.steps.length === 0) throw refuse.notFound('step');
  return answer;
}
