import type { Redis } from 'ioredis';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { noteFallback } from '../../../platform/redis/fallbacks.ts';

/** Deliveries of one endpoint in flight at most (webhooks.md#delivery). */
const PER_ENDPOINT = 8;
/** Time that a job needs beside its attempts: reading, signing, writing. */
const BESIDE_ATTEMPTS_MS = 15_000;
const DELIVERIES_PER_JOB = 10;

/** What a job may do now: send `ids`, `lanes` of them at the same time. */
export interface Held {
  lanes: number;
  ids: string[];
  /** After the last attempt: others may send, while the outcomes are written. */
  releaseLanes(): void;
  /** After the outcomes are written: the deliveries may be taken by others. */
  release(): void;
}

/** A job with the endpoint that it delivers to. */
export interface Holder {
  id: string;
  organizationId: OrganizationId;
  endpointId: WebhookEndpointId;
}

export interface Slots {
  /** Undefined when the endpoint is at its limit, or when all ids are in flight elsewhere. */
  take(job: Holder, deliveryIds: WebhookDeliveryId[]): Promise<Held | undefined>;
}

interface SlotRedis extends Redis {
  takeWebhookSlots(...parameters: (string | number)[]): Promise<[number, ...string[]]>;
}

/*
 * Leases in sorted sets, scored by the instant at which they expire, on the clock of Redis: what a killed worker held
 * comes free by itself, and a job that is run again takes over what its former run held.
 *
 * KEYS lanes of the endpoint, deliveries in flight (hash)
 * ARGV job, lanes of an endpoint, attempt ms, beside ms, ids...
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local job, perEndpoint = ARGV[1], tonumber(ARGV[2])
local attemptMs, besideMs = tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local names = {}
for lane = 1, perEndpoint do names[lane] = job .. '/' .. lane end
redis.call('ZREM', KEYS[1], unpack(names))
local free = perEndpoint - redis.call('ZCARD', KEYS[1])
if free <= 0 then return {0} end
local wanted = {unpack(ARGV, 5)}
local ids = {}
for i, held in ipairs(redis.call('HMGET', KEYS[2], unpack(wanted))) do
  local expires, holder
  if held then expires, holder = string.match(held, '^(%d+) (.*)$') end
  if not held or tonumber(expires) <= now or holder == job then ids[#ids + 1] = wanted[i] end
end
if #ids == 0 then return {0} end
local lanes = math.min(free, math.ceil(#ids / 2))
local lease = math.ceil(#ids / lanes) * attemptMs + besideMs
local longest = #ARGV * attemptMs + besideMs
local members, fields = {}, {}
for lane = 1, lanes do
  members[2 * lane - 1] = now + lease
  members[2 * lane] = names[lane]
end
for i, id in ipairs(ids) do
  fields[2 * i - 1] = id
  fields[2 * i] = string.format('%.0f', now + lease) .. ' ' .. job
end
redis.call('ZADD', KEYS[1], unpack(members))
redis.call('HSET', KEYS[2], unpack(fields))
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], longest) end
return {lanes, unpack(ids)}
`;

/**
 * Slots of an endpoint, shared by all processes of the pool: a slow one gets no more of them (webhooks.md#sending, rule
 * 5; what its organization holds of the pool is bounded by queue/shares.ts). A delivery that is in flight in one job is
 * given to no other.
 *
 * attemptMs  longest attempt
 * besideMs   what a job needs beside its attempts
 */
export function openSlots(redis: Redis, options: { prefix: string; attemptMs: number; besideMs?: number }): Slots {
  redis.defineCommand('takeWebhookSlots', { numberOfKeys: 2, lua: TAKE });
  const client = redis as SlotRedis;
  const releases = openReleases(redis);
  return {
    async take({ id, organizationId, endpointId }, deliveryIds) {
      const key = (name: string) => `${options.prefix}:webhook-slots:${name}:{${organizationId}}:${endpointId}`;
      const lanesKey = key('endpoint');
      const flightKey = key('in-flight');
      releases.flush();
      const [lanes, ...ids] = await client.takeWebhookSlots(
        lanesKey,
        flightKey,
        id,
        PER_ENDPOINT,
        options.attemptMs,
        options.besideMs ?? BESIDE_ATTEMPTS_MS,
        ...deliveryIds.slice(0, DELIVERIES_PER_JOB),
      );
      if (lanes === 0) return undefined;
      const members = Array.from({ length: lanes }, (_, index) => `${id}/${index + 1}`);
      let hasLanes = true;
      const releaseLanes = () => {
        if (hasLanes) releases.add(organizationId, ['zrem', lanesKey, ...members]);
        hasLanes = false;
      };
      return {
        lanes,
        ids,
        releaseLanes,
        release() {
          releaseLanes();
          releases.add(organizationId, ['hdel', flightKey, ...ids]);
        },
      };
    },
  };
}

interface Releases {
  add(organizationId: OrganizationId, command: string[]): void;
  /** Sends waiting releases at once, so that the next request for slots finds them free. */
  flush(): void;
}

/**
 * Sends the releases of jobs in the same turn of the event loop together, those of each organization in one pipeline,
 * since their keys lie on one node. No job waits for it; when Redis is away the leases expire by themselves.
 */
function openReleases(redis: Redis): Releases {
  let waiting = new Map<OrganizationId, string[][]>();
  const lost = (error: unknown) => noteFallback(redis, 'webhook slots', error);
  const send = async (commands: string[][]) => {
    // A pipeline that was sent never fails as a whole: its answers do.
    for (const [error] of (await redis.pipeline(commands).exec()) ?? []) if (error) lost(error);
  };
  const flush = () => {
    for (const commands of waiting.values()) send(commands).catch(lost);
    waiting = new Map();
  };
  return {
    flush,
    add(organizationId, command) {
      if (waiting.size === 0) setImmediate(flush);
      const own = waiting.get(organizationId);
      if (own) own.push(command);
      else waiting.set(organizationId, [command]);
    },
  };
}
