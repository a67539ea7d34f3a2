import { type CreatedOrganization, createOrganization } from '../../areas/tenancy/organizations/commands.ts';
import { loadConfig } from '../../platform/config.ts';
import { connectDatabase } from '../../platform/db/connect.ts';
import type { findRunning } from '../../platform/services/run-file.ts';
import { readLocalSecretsKey } from '../../platform/services/secrets-file.ts';

type RunningService = NonNullable<Awaited<ReturnType<typeof findRunning>>>;

/**
 * Creates a sandbox organization of a running service, with whose keys its secrets are sealed.
 *
 * dataDir  of the service, which has its key there unless SECRETS_KEYS is set
 */
export async function createFreshSandbox(
  { databaseUrl, settings }: Pick<RunningService, 'databaseUrl' | 'settings'>,
  dataDir: string,
  name: string,
): Promise<CreatedOrganization> {
  const given = { ...(await readLocalSecretsKey(dataDir)), ...process.env, ...settings };
  const config = loadConfig({ ...given, DATABASE_URL: databaseUrl });
  const { DATABASE_SCHEMA: schema } = config;
  const sql = connectDatabase(databaseUrl, { schema, connections: 1, name: 'meterstone demo' });
  try {
    return await createOrganization(sql, { name, sandbox: true }, config);
  } finally {
    await sql.end();
  }
}
