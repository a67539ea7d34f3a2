import { Job, type Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { realNowMs } from '../clock/real-clock.ts';
import { noteFallback } from '../redis/fallbacks.ts';
import { keyPrefix } from './queue-names.ts';
import type { Lane } from './shares.ts';

/** Delay of a parked job in case every call of it is lost; spread out, so that a backlog does not come all together. */
const LAST_RESORT_MS = 600_000;
/** Time after which a called job that has not arrived is called again, because its caller may have been killed. */
const CALLED_AGAIN_MS = 2000;
/** Added to the time of a job in the background, so that it is called after all others of its lane. */
const BACKGROUND_LATER_MS = 1e13;
/** How many lanes and jobs one sweep finds; further ones follow in the next. */
export const MOST_AT_ONCE = 100;

interface ParkingRedis extends Redis {
  parkJob(...parameters: (string | number)[]): Promise<number>;
  settleParkedJob(...parameters: (string | number)[]): Promise<number>;
  callParkedJobs(...parameters: (string | number)[]): Promise<string[]>;
  lookAtParkedJobs(...parameters: (string | number)[]): Promise<[string[], string[]]>;
}

/*
 * Per queue: `lanes` (lane → when it was last checked), `called` (job → when it was called), and for each lane its jobs
 * (job → when it was made), the oldest first; those in the background behind the others.
 */

/* KEYS jobs of the lane, lanes, called · ARGV lane, job, when it was made, now, whether it was called */
const PARK = `
if ARGV[5] == '1' then redis.call('ZREM', KEYS[3], ARGV[2]) end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
return redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[1])
`;

/* Whether a job was called before it could be. KEYS jobs of the lane, called · ARGV job */
const SETTLE = `
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
`;

/* Takes the oldest jobs off a lane. KEYS jobs of the lane, lanes, called · ARGV lane, count, now */
const CALL = `
local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)
if #ids > 0 then
  redis.call('ZREM', KEYS[1], unpack(ids))
  local called = {}
  for _, id in ipairs(ids) do
    called[#called + 1] = ARGV[3]
    called[#called + 1] = id
  end
  redis.call('ZADD', KEYS[3], unpack(called))
end
if #ids < tonumber(ARGV[2]) then redis.call('ZREM', KEYS[2], ARGV[1]) end
return ids
`;

/*
 * The lanes that were checked longest ago, and the jobs that were called and have not arrived.
 *
 * KEYS lanes, called · ARGV now, called before, most
 */
const LOOK = `
local lanes = redis.call('ZRANGE', KEYS[1], 0, ARGV[3] - 1)
for _, lane in ipairs(lanes) do redis.call('ZADD', KEYS[1], ARGV[1], lane) end
local lost = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(lost) do redis.call('ZADD', KEYS[2], ARGV[1], id) end
return {lanes, lost}
`;

/**
 * Jobs of one queue that wait for a slot of their lane: delayed jobs for the library, which ignores them, and a list
 * for us. A job that leaves a slot calls the oldest waiting one, so waiting costs nothing.
 */
export interface ParkedJobs {
  /** Parks an active job. The caller must not continue it. */
  park(job: Job, token: string | undefined, lane: Lane): Promise<void>;
  /** Returns the oldest jobs of a lane to the queue; @returns how many: fewer than `count` if none is left. */
  call(lane: Lane, count: number): Promise<number>;
  /** Reports that a job has arrived that may have been called. */
  arrived(jobId: string): void;
  /** Calls jobs again whose call was lost; @returns lanes with waiting jobs. */
  look(): Promise<Lane[]>;
}

export function openParkedJobs(redis: Redis, prefix: string, queue: Queue): ParkedJobs {
  redis.defineCommand('parkJob', { numberOfKeys: 3, lua: PARK });
  redis.defineCommand('settleParkedJob', { numberOfKeys: 2, lua: SETTLE });
  redis.defineCommand('callParkedJobs', { numberOfKeys: 3, lua: CALL });
  redis.defineCommand('lookAtParkedJobs', { numberOfKeys: 2, lua: LOOK });
  const client = redis as ParkingRedis;
  const parked = `${keyPrefix(prefix, queue.name)}:parked`;
  const lanesKey = `${parked}:lanes`;
  const calledKey = `${parked}:called`;
  const jobsKey = (lane: string) => `${parked}:jobs:${lane}`;
  const lost = (error: unknown) => noteFallback(redis, 'parked jobs', error);

  const promote = (id: string): Promise<void> =>
    new Job(queue, '', {}, {}, id).promote().catch(async () => {
      // Not delayed: it waits, runs, is about to settle, or is gone. If Redis is away the next sweep finds it.
      await client.zrem(calledKey, id).catch(lost);
    });

  return {
    async park(job, token, lane) {
      const name = nameOf(lane);
      const id = job.id!;
      // Listed first, so that a process killed between the two leaves a job that stalls and comes again.
      const called = mayBeCalled(job) ? 1 : 0;
      await client.parkJob(jobsKey(name), lanesKey, calledKey, name, id, placeOf(job), realNowMs(), called);
      await job.moveToDelayed(realNowMs() + LAST_RESORT_MS * (1 + Math.random()), token);
      if ((await client.settleParkedJob(jobsKey(name), calledKey, id)) === 1) await promote(id);
    },
    async call(lane, count) {
      const name = nameOf(lane);
      const ids = await client.callParkedJobs(jobsKey(name), lanesKey, calledKey, name, count, realNowMs());
      await Promise.all(ids.map(promote));
      return ids.length;
    },
    arrived(jobId) {
      client.zrem(calledKey, jobId).catch(lost); // called again, in vain
    },
    async look() {
      const now = realNowMs();
      const [lanes, lost] = await client.lookAtParkedJobs(
        lanesKey,
        calledKey,
        now,
        now - CALLED_AGAIN_MS,
        MOST_AT_ONCE,
      );
      for (const id of lost) void promote(id);
      return lanes.map(laneOf);
    },
  };
}

/** Jobs with a priority run after those without one, also after they were parked. */
const placeOf = ({ timestamp, opts }: Job): number => timestamp + (opts.priority ? BACKGROUND_LATER_MS : 0);

/** Whether a job was active before without using an attempt: parked and called, or its process was killed. */
export const mayBeCalled = (job: Job): boolean => job.attemptsStarted > job.attemptsMade + 1;

export const nameOf = ({ organizationId, customerKey }: Lane): string =>
  customerKey === undefined ? organizationId : `${organizationId}/${customerKey}`;

// An organization's id holds no slash.
const laneOf = (name: string): Lane => {
  const slash = name.indexOf('/');
  return slash < 0
    ? { organizationId: name }
    : { organizationId: name.slice(0, slash), customerKey: name.slice(slash + 1) };
};
