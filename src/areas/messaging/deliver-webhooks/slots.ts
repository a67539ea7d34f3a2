import type { Redis } from 'ioredis';
import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { noteFallback } from '../../../platform/redis/fallbacks.ts';
import { openOwnLanes } from './own-lanes.ts';

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
 * Leases in one hash an endpoint, each with the instant at which it expires, on the clock of Redis: what a killed
 * worker held comes free by itself, and a job that is run again takes over what its former run held. A job has the
 * fields `lanes:<job>` (`<expires> <how many>`) and `flight:<job>` (`<expires> <id> <id> `), so that one read shows
 * all.
 *
 * KEYS leases of the endpoint
 * ARGV job, lanes of an endpoint, attempt ms, beside ms, ids...
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local job, free = ARGV[1], tonumber(ARGV[2])
local attemptMs, besideMs = tonumber(ARGV[3]), tonumber(ARGV[4])
local ended, flights = {}, {}
local held = redis.call('HGETALL', KEYS[1])
for i = 1, #held, 2 do
  local kind, holder = string.match(held[i], '^(%a+):(.*)$')
  local expires, what = string.match(held[i + 1], '^(%d+)( .*)$')
  if tonumber(expires) <= now or kind == 'lanes' and holder == job then
    ended[#ended + 1] = held[i]
  elseif kind == 'lanes' then
    free = free - tonumber(what)
  elseif holder ~= job then
    flights[#flights + 1] = what
  end
end
if #ended > 0 then redis.call('HDEL', KEYS[1], unpack(ended)) end
if free <= 0 then return {0} end
local elsewhere = table.concat(flights)
local ids = {}
for i = 5, #ARGV do
  if not string.find(elsewhere, ' ' .. ARGV[i] .. ' ', 1, true) then ids[#ids + 1] = ARGV[i] end
end
if #ids == 0 then return {0} end
local lanes = math.min(free, math.ceil(#ids / 2))
local expires = string.format('%.0f', now + math.ceil(#ids / lanes) * attemptMs + besideMs)
redis.call('HSET', KEYS[1],
  'lanes:' .. job, expires .. ' ' .. lanes, 'flight:' .. job, expires .. ' ' .. table.concat(ids, ' ') .. ' ')
redis.call('PEXPIRE', KEYS[1], ${DELIVERIES_PER_JOB} * attemptMs + besideMs)
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
  redis.defineCommand('takeWebhookSlots', { numberOfKeys: 1, lua: TAKE });
  const client = redis as SlotRedis;
  const releases = openReleases(redis);
  const own = openOwnLanes();
  const { besideMs = BESIDE_ATTEMPTS_MS } = options;
  return {
    async take({ id, organizationId, endpointId }, deliveryIds) {
      // Redis would say no. Measured: 3.8 requests a job without this, 2.8 with it.
      if (own.ofOthers(endpointId, id) >= PER_ENDPOINT) return undefined;
      const key = `${options.prefix}:webhook-slots:held:{${organizationId}}:${endpointId}`;
      releases.flush();
      const [lanes, ...ids] = await client.takeWebhookSlots(
        key,
        id,
        PER_ENDPOINT,
        options.attemptMs,
        besideMs,
        ...deliveryIds.slice(0, DELIVERIES_PER_JOB),
      );
      if (lanes === 0) return undefined;
      let hasLanes = true;
      const untilMs = realNowMs() + Math.ceil(ids.length / lanes) * options.attemptMs + besideMs;
      own.hold(endpointId, id, { lanes, untilMs });
      const lanesField = `lanes:${id}`;
      const flightField = `flight:${id}`;
      return {
        lanes,
        ids,
        releaseLanes() {
          if (hasLanes) releases.add(organizationId, ['hdel', key, lanesField]);
          own.letGo(endpointId, id);
          hasLanes = false;
        },
        release() {
          const lanesLeft = hasLanes ? [lanesField] : [];
          releases.add(organizationId, ['hdel', key, flightField, ...lanesLeft]);
          if (hasLanes) own.letGo(endpointId, id);
          hasLanes = false;
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
