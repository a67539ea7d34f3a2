import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFreshSandbox } from '../../src/commands/demo/fresh-sandbox.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { newId } from '../../src/platform/ids.ts';
import { openText, privateKeyPlace, sealText } from '../../src/platform/secrets/secrets.ts';
import { localSecretsKey } from '../../src/platform/services/secrets-file.ts';
import { createTestDatabase } from '../support/database.ts';

test('the sandbox of a demo is sealed by the keys of the service, which the data folder has', async () => {
  const [database, folder] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'meterstone-demo-'))]);
  onTestFinished(() => Promise.all([database.drop(), rm(folder, { recursive: true })]).then(() => {}));
  vi.stubEnv('SECRETS_KEYS', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { SECRETS_KEYS } = await localSecretsKey(folder);
  const deployment = { db: database.sql, config: loadConfig({ DATABASE_URL: database.url, SECRETS_KEYS }) };
  // As a service leaves it that was started again.
  const id = newId();
  const sealed = await sealText(deployment, randomBytes(32).toString('base64'), privateKeyPlace(id));
  await database.sql`delete from deployment_keys where purpose = 'sealing'`;
  await database.sql`
    insert into deployment_keys (id, purpose, private_key, created_at) values (${id}, 'sealing', ${sealed}, now())`;
  const settings = { WIRE_PREFIX: 'svc', DATABASE_SCHEMA: 'public', REDIS_PREFIX: 't' };
  const { organization_id: made, hmac_key: key } = await createFreshSandbox(
    { databaseUrl: database.url, settings },
    folder,
    'Demo',
  );
  const [row] = await database.sql`select sandbox, hmac_key from organizations where id = ${made}`;
  expect(row!.sandbox).toBe(true);
  const place = { table: 'organizations', row: made, field: 'hmac_key' };
  expect(await openText(deployment, row!.hmac_key, place)).toBe(key);
});
