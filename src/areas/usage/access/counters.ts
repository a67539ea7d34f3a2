import { randomUUID } from 'node:crypto';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { CHANGES_KEPT_SECONDS } from '../../../platform/redis/access-changes.ts';
import { accessChangesKey } from '../../../platform/redis/channels.ts';
import type { Redis } from '../../../platform/redis/connect.ts';
import { noteFallback } from '../../../platform/redis/fallbacks.ts';
import type { LimitedMetric } from '../../catalog/usage-shapes/storing-catalog.ts';
import type { LimitedGroup, LimitedUsage } from '../events/storage/limited-usage.ts';
import type { AccessFacts, CountedWindow } from './access-facts.ts';
import { ADD, OPEN, READ, STORE } from './redis-scripts.ts';

/** Life of a hash: an addition lost between commit and Redis is missing no longer than this. */
const KEPT_MS = 60_000;
/** Age from which a hash is rebuilt in the background, so that that of a busy subscription never expires. */
export const FRESH_MS = 30_000;
/** Lease of a rebuild, which takes milliseconds; a dead one delays the next by this time. */
const BUILD_MS = 5000;
/** Longest wait of storing events for the addition; it is made later when Redis is back, and nothing counts twice. */
const ADD_TIMEOUT_MS = 1000;
const MILLIONTHS = 1_000_000;
/** Above this value in millionths Lua scripts lose digits, so such usage is not counted in Redis. */
const MOST_MILLIONTHS = '9000000000000000';

export interface KeptFacts {
  facts: AccessFacts;
  /** Time since the facts were read from Postgres. */
  ageMs: number;
}

/** A rebuild in progress. */
interface Rebuild {
  token: string;
  /** Number of the organization's newest change at the time before reading began. */
  epoch: number;
}

/**
 * The cache of access checks in Redis: one hash for each subscription, read by one script, to which workers add the
 * events that they store. It may vanish at any time. It is exact in any order of reads, commits and additions, because
 * the hash knows which transactions it contains and later changes invalidate it.
 *
 * Rule: access-check.md "latency design".
 */
export interface AccessCounters {
  /** Undefined if no valid hash exists. */
  read(organizationId: OrganizationId, externalId: string): Promise<KeptFacts | undefined>;
  /** Begins a rebuild before anything is read; undefined while another one is in progress. */
  open(organizationId: OrganizationId, externalId: string): Promise<Rebuild | undefined>;
  /** Ends a rebuild; null stores nothing. */
  store(organizationId: OrganizationId, externalId: string, rebuild: Rebuild, facts: AccessFacts | null): Promise<void>;
  /** Adds the events of a committed transaction in one call to Redis for each organization. Never fails. */
  add(usage: LimitedUsage): Promise<void>;
}

interface CountersRedis extends Redis {
  accessRead(...parameters: string[]): Promise<string[] | null>;
  accessOpen(...parameters: (string | number)[]): Promise<number | null>;
  accessStore(...parameters: (string | number)[]): Promise<number>;
  accessAdd(...parameters: (string | number)[]): Promise<number>;
}

export function openCounters(redis: Redis, prefix: string): AccessCounters {
  const client = withScripts(redis);
  const keysOf = (organizationId: OrganizationId, externalId: string) => {
    const key = (name: string) => `${prefix}:${name}:{${organizationId}}:${externalId}`;
    return { hash: key('acc'), builder: key('acc-builder'), log: key('acc-log') };
  };
  const changes = (organizationId: OrganizationId) => accessChangesKey(prefix, organizationId);
  return {
    async read(organizationId, externalId) {
      const { hash } = keysOf(organizationId, externalId);
      const fields = await client.accessRead(hash, changes(organizationId), externalId);
      return fields ? keptFacts(fields) : undefined;
    },
    async open(organizationId, externalId) {
      const { builder, log } = keysOf(organizationId, externalId);
      const token = randomUUID();
      const epoch = await client.accessOpen(
        builder,
        log,
        changes(organizationId),
        token,
        BUILD_MS,
        CHANGES_KEPT_SECONDS,
      );
      return epoch === null ? undefined : { token, epoch };
    },
    async store(organizationId, externalId, { token, epoch }, facts) {
      const { hash, builder, log } = keysOf(organizationId, externalId);
      const fields = facts?.subscription
        ? [externalId, facts.subscription.customer_id, KEPT_MS, 'epoch', epoch, ...fieldsOf(facts)]
        : [];
      await client.accessStore(hash, builder, log, changes(organizationId), token, ...fields);
    },
    async add({ transaction, groups }) {
      const organizations = new Map<OrganizationId, LimitedGroup[]>();
      for (const group of groups) {
        const own = organizations.get(group.organization_id);
        if (own) own.push(group);
        else organizations.set(group.organization_id, [group]);
      }
      await inTime(
        Promise.all(
          [...organizations.values()].map((own) => {
            const keys = own.flatMap((group) => {
              const { hash, builder, log } = keysOf(group.organization_id, group.external_subscription_id);
              return [hash, builder, log];
            });
            return client
              .accessAdd(keys.length, ...keys, BUILD_MS, transaction, ...own.flatMap(partsOf))
              .catch((error) => noteFallback(redis, 'access counters', error)); // expires by itself, see KEPT_MS
          }),
        ),
      );
    },
  };
}

function withScripts(redis: Redis): CountersRedis {
  if (!('accessRead' in redis)) {
    redis.defineCommand('accessRead', { numberOfKeys: 2, lua: READ });
    redis.defineCommand('accessOpen', { numberOfKeys: 3, lua: OPEN });
    redis.defineCommand('accessStore', { numberOfKeys: 4, lua: STORE });
    redis.defineCommand('accessAdd', { lua: ADD });
  }
  return redis as CountersRedis;
}

/** Identifies whether a window counts the events of a metric in the form in which a worker knew it. */
const metricText = ({ aggregation_type, field_name }: Omit<LimitedMetric, 'code'>): string =>
  JSON.stringify([aggregation_type, field_name]);

function fieldsOf({ windows, snapshot, ...doc }: AccessFacts): string[] {
  const counted = windows.map((window, n) => ({ window, n, millionths: millionthsOf(window) }));
  const shown = counted.map(({ window, n, millionths }) => ({
    n,
    code: window.metric.code,
    metric: metricText(window.metric),
    adds: millionths !== undefined,
    // Counting cuts the start to the millisecond.
    from: window.from === null ? -Number.MAX_SAFE_INTEGER : Math.floor(microsOf(window.from) / 1000) * 1000,
    to: microsOf(window.to),
    heir: window.isHeir,
  }));
  const used = counted.map(({ window, millionths }) => ({
    ...window,
    used: millionths === undefined ? window.used.toFixed() : null,
  }));
  const units = counted.flatMap(({ n, millionths }) => (millionths === undefined ? [] : [`u${n}`, millionths]));
  return [
    'snapshot',
    snapshot,
    'windows',
    JSON.stringify(shown),
    'doc',
    JSON.stringify({ ...doc, windows: used }),
    ...units,
  ];
}

function keptFacts(fields: readonly string[]): KeptFacts {
  const field = new Map<string, string>();
  for (let i = 0; i < fields.length; i += 2) field.set(fields[i]!, fields[i + 1]!);
  const doc = JSON.parse(field.get('doc')!) as AccessFacts & { windows: (CountedWindow & { used: string | null })[] };
  const windows = doc.windows.map((window, n) => ({
    ...window,
    used: window.used === null ? decimal(field.get(`u${n}`)!).div(MILLIONTHS) : decimal(window.used),
  }));
  return { facts: { ...doc, windows, snapshot: field.get('snapshot')! }, ageMs: Number(field.get('age')) };
}

/** The used units, present if events may be added to them. */
function millionthsOf({ metric: { aggregation_type: type }, used }: CountedWindow): string | undefined {
  return type === 'count_agg' || type === 'sum_agg' ? wholeMillionths(used) : undefined;
}

function wholeMillionths(units: Decimal): string | undefined {
  const millionths = units.times(MILLIONTHS);
  return millionths.isInteger() && millionths.abs().lte(MOST_MILLIONTHS) ? millionths.toFixed() : undefined;
}

const partsOf = ({ metric, units, first, last }: LimitedGroup): (string | number)[] => [
  metric.code,
  metricText(metric),
  (units && wholeMillionths(units)) ?? '',
  microsOf(first),
  microsOf(last),
];

/** Microseconds since 1970 of an ISO text in UTC. */
function microsOf(iso: string): number {
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? '';
  return Date.parse(`${iso.slice(0, 19)}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ADD_TIMEOUT_MS);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
