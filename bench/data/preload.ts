import type { Environment } from '../harness/environment.ts';
import { METRICS, REGIONS, SUBSCRIPTIONS, TIERS } from './event-source.ts';

/** Rows of one organization made inside the server. */
export interface Preload {
  organizationId: string;
  rows: number;
  /** Without it the rows are spread over all subscriptions. */
  subscription?: string;
  /** Hours before now over which they are spread. */
  hours: number;
  label: string;
}

/**
 * Makes events inside the server, like those of the event source: the indexes are dropped before and built afterwards,
 * which is faster than keeping them up (benchmark.md#harness).
 */
export const preloadEvents = (environment: Environment, preloads: Preload[]): Promise<void> =>
  withoutIndexes(environment, preloads.map(insertion));

/** Inserts events without indexes and builds the indexes afterwards. */
export async function withoutIndexes({ sql, schema }: Environment, insertions: string[]): Promise<void> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = ${schema} and tablename = 'events' and indexname <> 'events_pkey'`;
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`);
  await withoutTimeout(sql, insertions);
  await withoutTimeout(sql, [...indexes.map((index) => index.definition), KEEP_KEYS]);
  await sql.unsafe('vacuum analyze events');
}

/** The keys of events that the storing statement did not see. */
const KEEP_KEYS = `
  insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
  select organization_id, event_hash(transaction_id), event_hash(external_subscription_id), event_digest(digest),
    timestamp, id
  from events on conflict do nothing`;

/**
 * A copy of `events` with the same rows, the same indexes and a key that keeps each once: the target of the raw COPY.
 */
export async function copyEventsTable({ sql, schema }: Environment, name: string): Promise<void> {
  const indexes = await sql<{ definition: string }[]>`
    select indexdef as definition from pg_indexes where schemaname = ${schema} and tablename = 'events'`;
  await withoutTimeout(sql, [
    `create table ${name} (like events including defaults including constraints)`,
    `insert into ${name} select * from events`,
    ...indexes.map(({ definition }) =>
      definition.replace(/INDEX (\S+) ON/, `INDEX ${name}_$1 ON`).replace(`${schema}.events `, `${schema}.${name} `),
    ),
    `create unique index ${name}_transaction on ${name} (transaction_id, organization_id, external_subscription_id)`,
  ]);
  await sql.unsafe(`vacuum analyze ${name}`);
}

// Longer than any statement of the service may take.
async function withoutTimeout(sql: Environment['sql'], statements: string[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe("set local statement_timeout = 0; set local maintenance_work_mem = '512MB'");
    for (const statement of statements) await tx.unsafe(statement);
  });
}

const textArray = (words: readonly string[]): string => `array['${words.join("','")}']`;

const insertion = ({ organizationId, rows, subscription, hours, label }: Preload): string => `
  insert into events (
    id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties, digest,
    created_at)
  select gen_random_uuid(), '${organizationId}',
    ${subscription === undefined ? `'sub-' || n % ${SUBSCRIPTIONS}` : `'${subscription}'`},
    lpad(to_hex(hashint4(n)), 8, '0') || '-${label}-' || n,
    (${textArray(METRICS)})[1 + hashint4(n + 1) % 5 * sign(hashint4(n + 1))::int],
    date_trunc('hour', now()) - make_interval(hours => n % ${hours}) - make_interval(secs => n % 3599),
    jsonb_build_object('amount', (n % 977) / 4.0, 'region', (${textArray(REGIONS)})[1 + n / 7 % 5],
      'tier', (${textArray(TIERS)})[1 + n / 3 % 3], 'seat', 's' || n / 11 % 50, 'request', 'r' || n),
    decode(lpad(to_hex(n), 32, '0'), 'hex'), now()
  from generate_series(1, ${rows}) n`;
