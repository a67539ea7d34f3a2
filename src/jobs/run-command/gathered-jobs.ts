import type { Redis } from 'ioredis';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import { isPassing } from '../../platform/db/refusal-of-database.ts';
import type { Gathering } from '../../platform/operation.ts';
import type { Handlers, JobInfo } from '../../platform/queue/worker.ts';
import { publishReply } from '../../platform/replies/replies.ts';
import { attempt, failed, OLDEST_COMMAND_MS } from './jobs.ts';
import { type CommandDeps, type CommandJob, type CommandReply, TwinRunning } from './run-command.ts';
import { runGathered } from './run-gathered.ts';

/**
 * Handler of commands that wait for one record: first those that can run together, then the others one after the other.
 * A command whose key was used before, or whose transaction fails together with the others, runs as a separate job.
 */
export function gatheredHandlers(deps: CommandDeps & { redis: Redis }): Pick<Handlers, 'command.run-gathered'> {
  const { REDIS_PREFIX: prefix } = deps.config;
  const answer = (job: CommandJob, reply: CommandReply, position?: string) =>
    publishReply(deps.redis, prefix, { to: job.from, cid: job.cid, reply, position });
  const runAsJobs = (jobs: readonly CommandJob[]) =>
    deps.producer.addMany(
      'command.run',
      jobs.map((job) => ({ payload: job, options: { id: job.cid } })),
    );

  async function runTogether(gathering: Gathering, jobs: readonly CommandJob[], info: JobInfo): Promise<void> {
    if (jobs.length === 0) return;
    try {
      const { answered, repeated } = await runGathered(deps, gathering, jobs);
      const position = await deps.positions?.keep([jobs[0]!.organization_id]);
      await Promise.all(answered.map(({ job, reply }) => answer(job, reply, position)));
      await runAsJobs(repeated);
    } catch (error) {
      if (error instanceof TwinRunning) return withoutTwins(gathering, jobs, info);
      if (isPassing(error) && !info.lastAttempt) throw error;
      if (isPassing(error)) await Promise.all(jobs.map((job) => answer(job, failed(deps, job, error))));
      else await runAsJobs(jobs);
    }
  }

  /** Only callers' own keys have twins; without any, this job is also being run by another worker. */
  async function withoutTwins(gathering: Gathering, jobs: readonly CommandJob[], info: JobInfo): Promise<void> {
    const keyed = jobs.filter(({ idempotency }) => idempotency !== null);
    await runAsJobs(keyed.length > 0 ? keyed : jobs);
    if (keyed.length > 0)
      await runTogether(
        gathering,
        jobs.filter(({ idempotency }) => idempotency === null),
        info,
      );
  }

  async function runAlone(job: CommandJob, info: JobInfo): Promise<void> {
    const comeBack = () => Promise.reject(new TwinRunning());
    try {
      const reply = await attempt(deps, job, { ...info, comeBack });
      await answer(job, reply, await deps.positions?.keep([job.organization_id]));
    } catch (error) {
      if (!(error instanceof TwinRunning)) throw error;
      await runAsJobs([job]); // it comes back by itself, and the commands beside it do not wait
    }
  }

  return {
    async 'command.run-gathered'({ commands, from, cid }, info) {
      const young = commands.filter((job) => realNowMs() - job.at <= OLDEST_COMMAND_MS);
      const gathering = deps.operations.get(commands[0]!.operation)?.gathers;
      const isTogether = (job: CommandJob) => gathering?.run !== undefined && !gathering.isAlone(job.input);
      if (gathering) await runTogether(gathering, young.filter(isTogether), info);
      for (const job of young.filter((each) => !isTogether(each))) await runAlone(job, info);
      await publishReply(deps.redis, prefix, { to: from, cid, reply: true });
    },
  };
}
