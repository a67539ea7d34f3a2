import { join } from 'node:path';
import { makeOneTimeLink } from '../../areas/tenancy/console-sessions/one-time-links.ts';
import {
  type CreatedOrganization,
  createOrganization,
  digestOfKey,
} from '../../areas/tenancy/organizations/commands.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import { connectDatabase, type Sql } from '../../platform/db/connect.ts';
import { bringUpToDate } from '../../platform/db/role-settings.ts';
import { isPooled } from '../../platform/db/session-settings.ts';
import { checkSecrets, sealFormerSecrets } from '../../platform/secrets/check-secrets-at-start.ts';
import { readJson, writePrivateJson } from '../../platform/services/small-file.ts';

export interface Demo {
  name: string;
  apiKey: string;
  /** Path of the link that opens the console once. */
  consolePath: string | undefined;
}

/**
 * Applies the migrations and creates a sandbox organization in a database without organizations. Its key is stored in
 * `demo.json`, because the database has only digests.
 *
 * @returns that organization; undefined in a database with other organizations, which stays unchanged
 */
export async function prepareDatabase(
  databaseUrl: string,
  config: Config,
  dataDir: string,
  say: (line: string) => void,
): Promise<Demo | undefined> {
  const sql = connectDatabase(databaseUrl, {
    schema: config.DATABASE_SCHEMA,
    connections: 2,
    name: 'meterstone start',
  });
  try {
    await migrateDatabase(databaseUrl, config);
    await prepareSecrets(sql, config, say);
    const demo = await findOrCreateDemo(sql, config, join(dataDir, 'demo.json'));
    if (!demo) return undefined;
    const link = config.CONSOLE
      ? await makeOneTimeLink(sql, { organization: demo.organization_id }, realNow())
      : undefined;
    return { name: demo.name, apiKey: demo.api_key, consolePath: link?.path };
  } catch (error) {
    throw new Error(`the database could not be prepared: ${describe(error)}`, { cause: error });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Past a pooler, where a given database has one and such an address. */
async function migrateDatabase(databaseUrl: string, config: Config): Promise<void> {
  const past = config.DATABASE_URL === '' ? '' : config.MIGRATION_DATABASE_URL;
  const sql = connectDatabase(past || databaseUrl, {
    schema: config.DATABASE_SCHEMA,
    connections: 2,
    name: 'meterstone migrate',
  });
  try {
    await bringUpToDate(sql, isPooled(databaseUrl));
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** No other process of this database reads secrets yet, so they may be sealed now. */
async function prepareSecrets(sql: Sql, config: Config, say: (line: string) => void): Promise<void> {
  const unknown = await checkSecrets(sql, config);
  if (unknown.length > 0)
    throw new Error(
      `SECRETS_KEYS lacks the key "${unknown.join('", "')}", which sealed stored secrets of this database`,
    );
  const { sealed, closed } = await sealFormerSecrets(sql, config);
  if (sealed > 0) say(`${sealed} stored secrets were sealed with the key of this service`);
  if (closed > 0) say(`${closed} stored secrets do not open: npm run secrets -- verify names them`);
}

/** One file serves several databases, for example if DATABASE_URL is set only sometimes. */
async function findOrCreateDemo(sql: Sql, config: Config, file: string): Promise<CreatedOrganization | undefined> {
  const known = (await readJson<CreatedOrganization[]>(file)) ?? [];
  for (const organization of known) {
    if (await keyWorks(sql, organization.api_key)) return organization;
  }
  const [other] = await sql`select 1 from organizations limit 1`;
  if (other) return undefined;
  const created = await createOrganization(sql, { name: 'Demo', sandbox: true }, config);
  await writePrivateJson(file, [...known, created]);
  return created;
}

async function keyWorks(sql: Sql, key: string): Promise<boolean> {
  const rows = await sql`
    select 1 from api_keys where value_digest = ${digestOfKey(key)} and expires_at is null`;
  return rows.length > 0;
}

function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
