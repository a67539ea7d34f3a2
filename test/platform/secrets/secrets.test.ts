import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { rotateHmacKey } from '../../../src/areas/tenancy/organizations/rotate-hmac-key.ts';
import { ConfigError, loadConfig } from '../../../src/platform/config.ts';
import { json } from '../../../src/platform/db/values.ts';
import { linkSecret, linkSecrets, rotateKey, webhookSigningKey } from '../../../src/platform/keys/deployment-keys.ts';
import {
  checkSecrets,
  demandSecretsKey,
  sealFormerSecrets,
} from '../../../src/platform/secrets/check-secrets-at-start.ts';
import { keyIdOf } from '../../../src/platform/secrets/seal.ts';
import { countByKey, openAll, sealAgain } from '../../../src/platform/secrets/sealed-columns.ts';
import { hmacKeyPlace } from '../../../src/platform/secrets/secret-places.ts';
import { openText, sealText, UnknownSecretsKey } from '../../../src/platform/secrets/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const key = (letter: string) => `${letter}:${Buffer.alloc(32, letter).toString('base64')}`;
const [A, B, C] = ['a', 'b', 'c'].map(key) as [string, string, string];
const settings = (keys: string | undefined, single?: string) =>
  loadConfig({ ...(keys ? { SECRETS_KEYS: keys } : {}), ...(single ? { SECRETS_KEY: single } : {}) });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.sql`truncate organizations, deployment_keys cascade`;
});

/** A text as the first version sealed it. */
function sealFormerly(text: string, secret: string): string {
  const nonce = randomBytes(12);
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'stored answers', 32));
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce);
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `sealed:${sealed.toString('base64')}`;
}

const acme = (config = settings(A)) => createOrganization(database.sql, { name: 'Acme', sandbox: true }, config);

async function connection(organizationId: string, secrets: Record<string, string>): Promise<string> {
  const [row] = await database.sql<{ id: string }[]>`
    insert into payment_providers (id, organization_id, provider_type, code, name, secrets, secrets_last4, settings,
      status, created_at, updated_at)
    values (gen_random_uuid(), ${organizationId}, 'stripe', 'main', 'Main', ${json(secrets)}, '{}', '{}', 'connected',
      '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')
    returning id`;
  return row!.id;
}

const storedKey = async (id: string) =>
  (await database.sql<{ hmac_key: string }[]>`select hmac_key from organizations where id = ${id}`)[0]!.hmac_key;
const keysInUse = async () => [...new Set((await countByKey(database.sql)).map(({ key: id }) => id))].sort();

describe('sealed texts', () => {
  const place = { table: 'organizations', row: '1', field: 'hmac_key' };
  const deployment = (config = settings(A)) => ({ db: database.sql, config });

  test('a sealed text names its key and opens at its own place only (FI14)', async () => {
    const sealed = await sealText(deployment(), 'secret', place);
    expect(sealed).toMatch(/^v2:a:[A-Za-z0-9+/]+=*$/);
    expect(await openText(deployment(settings(`${B},${A}`)), sealed, place)).toBe('secret');
    for (const elsewhere of [{ table: 'webhook_endpoints' }, { row: '2' }, { field: 'secret' }])
      await expect(openText(deployment(), sealed, { ...place, ...elsewhere })).rejects.toThrow();
  });

  test('a sealed text opens neither with another key of the same name nor when changed, and a missing key is named', async () => {
    const sealed = await sealText(deployment(), 'secret', place);
    const other = settings(`a:${Buffer.alloc(32, 'x').toString('base64')}`);
    await expect(openText(deployment(other), sealed, place)).rejects.toThrow();
    const changed = sealed.slice(0, -6) + (sealed.at(-6) === 'A' ? 'B' : 'A') + sealed.slice(-5);
    await expect(openText(deployment(), changed, place)).rejects.toThrow();
    const missing = await openText(deployment(settings(B)), sealed, place).catch((error: Error) => error);
    expect(missing).toBeInstanceOf(UnknownSecretsKey);
    expect((missing as Error).message).toContain('"a"');
  });

  test('a text sealed with SECRETS_KEY has the key id default and opens beside SECRETS_KEYS', async () => {
    const single = 'a phrase of sixteen';
    const sealed = await sealText(deployment(settings(undefined, single)), 'secret', place);
    expect(keyIdOf(sealed)).toBe('default');
    expect(await openText(deployment(settings(A, single)), sealed, place)).toBe('secret');
    expect(keyIdOf(await sealText(deployment(settings(A, single)), 'secret', place))).toBe('a');
  });

  test('without settings a text is sealed with the key in the database, which every process knows', async () => {
    const sealed = await sealText(deployment(settings(undefined)), 'secret', place);
    expect(keyIdOf(sealed)).toBe('deployment');
    expect(await openText(deployment(settings(undefined)), sealed, place)).toBe('secret');
    expect(await openText(deployment(settings(A)), sealed, place)).toBe('secret');
  });
});

test.each([
  [A.slice(2), 'no id'],
  ['A:x', 'a capital letter'],
  [`${'a'.repeat(21)}:x`, '21 characters'],
  ['a:c2hvcnQ=', 'five bytes'],
  [`${A},${A}`, 'an id twice'],
  [A.replace('a:', 'deployment:'), 'a reserved id'],
  [A.replace('a:', 'default:'), 'a reserved id'],
])('SECRETS_KEYS=%s is refused by name (%s) without showing the key', (keys) => {
  const refusal = (() => {
    try {
      settings(keys);
    } catch (error) {
      return error as Error;
    }
  })();
  expect(refusal).toBeInstanceOf(ConfigError);
  expect(refusal!.message).toMatch(/^the settings are not valid: SECRETS_KEYS: takes /);
  expect(refusal!.message).not.toMatch(/[A-Za-z0-9+/]{30}/);
});

test('production does not start without a secrets key', () => {
  expect(() => demandSecretsKey(settings(undefined), 'production')).toThrow(/^SECRETS_KEYS is missing/);
  expect(() => demandSecretsKey(settings(undefined), undefined)).not.toThrow();
  expect(() => demandSecretsKey(settings(A), 'production')).not.toThrow();
  expect(() => demandSecretsKey(settings(undefined, 'a phrase of sixteen'), 'production')).not.toThrow();
});

test('a key rotation from a to b,a seals everything again; then b alone is enough, and c names what is missing (FI13)', async () => {
  const { sql } = database;
  const [old, both] = [settings(A), settings(`${B},${A}`)];
  const { organization_id: id, hmac_key } = await acme(old);
  const rotated = await rotateHmacKey(sql, { organizationId: id, hours: 1 }, old);
  const secret = await linkSecret({ db: sql, config: old });
  const { kid } = await webhookSigningKey({ db: sql, config: old })();
  const connected = await connection(id, {});
  const place = { table: 'payment_providers', row: connected, field: 'secrets.secret_key' };
  const sealed = await sealText({ db: sql, config: old }, 'sk_live_1', place);
  await sql`update payment_providers set secrets = ${json({ secret_key: sealed })} where id = ${connected}`;
  expect(await keysInUse()).toEqual(['a']);

  expect(await sealAgain(sql, both, 'all')).toEqual({ sealed: 5, closed: [] });
  expect(await keysInUse()).toEqual(['b']);
  expect(await sealAgain(sql, both, 'all')).toEqual({ sealed: 0, closed: [] });

  const alone = { db: sql, config: settings(B) };
  expect(await checkSecrets(sql, alone.config)).toEqual([]);
  expect(await openAll(sql, alone.config)).toEqual({ opened: 5, closed: [] });
  expect(await openText(alone, await storedKey(id), hmacKeyPlace(id))).toBe(rotated.hmac_key);
  const [former] = await sql<
    { former: string }[]
  >`select former_hmac_key as former from organizations where id = ${id}`;
  expect(await openText(alone, former!.former, hmacKeyPlace(id))).toBe(hmac_key);
  expect(await linkSecret(alone)).toBe(secret);
  expect((await webhookSigningKey(alone)()).kid).toBe(kid);
  const [row] = await sql<{ secrets: { secret_key: string } }[]>`select secrets from payment_providers`;
  expect(await openText(alone, row!.secrets.secret_key, place)).toBe('sk_live_1');

  expect(await checkSecrets(sql, settings(C))).toEqual(['b']);
});

test('an interrupted key rotation is continued, whatever the number of rows', async () => {
  const { sql } = database;
  const { organization_id: id } = await acme();
  await sql`
    insert into organizations (id, name, slug, hmac_key, sandbox, document_number_prefix, created_at, updated_at)
    select gen_random_uuid(), 'Many', 'many-' || n, 'plain-' || n, true, 'M', '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00Z'
    from generate_series(1, 1200) n`;
  const both = settings(`${B},${A}`);
  // The first pages only, as a killed rotation leaves it.
  const pages = await sql<{ id: string }[]>`select id from organizations order by id limit 700`;
  for (const { id: done } of pages.slice(0, 3)) {
    const text = await openText({ db: sql, config: both }, await storedKey(done), hmacKeyPlace(done));
    const anew = await sealText({ db: sql, config: both }, text, hmacKeyPlace(done));
    await sql`update organizations set hmac_key = ${anew} where id = ${done}`;
  }
  expect(await sealAgain(sql, both, 'all')).toEqual({ sealed: 1198, closed: [] });
  expect(await keysInUse()).toEqual(['b']);
  expect((await openAll(sql, both)).opened).toBe(1201);
  expect(keyIdOf(await storedKey(id))).toBe('b');
});

test('another value of a known key ends the start and is named, and so does another SECRETS_KEY', async () => {
  const { sql } = database;
  const { organization_id: id } = await acme(settings(A));
  const other = settings(`a:${Buffer.alloc(32, 'x').toString('base64')}`);
  await expect(checkSecrets(sql, other)).rejects.toThrow(
    new ConfigError(
      `key "a" of SECRETS_KEYS does not open organizations.hmac_key of row ${id}: it is not the key that sealed it`,
    ),
  );
  await sealAgain(sql, settings(A), 'all');
  await connection(id, { secret_key: sealFormerly('sk_live_1', 'a phrase of sixteen') });
  expect(await checkSecrets(sql, settings(A, 'a phrase of sixteen'))).toEqual([]);
  await expect(checkSecrets(sql, settings(A, 'some other phrase'))).rejects.toThrow(/^SECRETS_KEY does not open/);
});

test('setting a key for the first time seals what was plain or under the database key, and former links stay valid', async () => {
  const { sql } = database;
  const none = settings(undefined);
  const { organization_id: id, hmac_key } = await acme(none);
  const links = await linkSecret({ db: sql, config: none });
  const signing = await webhookSigningKey({ db: sql, config: none })();
  await sql`
    insert into webhook_endpoints (id, organization_id, webhook_url, secret, created_at, updated_at)
    values (gen_random_uuid(), ${id}, 'https://a.example', 'whsec_open', '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00Z')`;
  // As the first version had sealed it without a setting: by the secret of links.
  const connected = await connection(id, { secret_key: sealFormerly('sk_live_1', links) });
  expect(await keysInUse()).toEqual(['deployment', 'former form', 'not sealed']);

  const first = settings(A);
  expect(await checkSecrets(sql, first)).toEqual([]);
  // Links, RSA pair and the database's own key; the HMAC key; the endpoint; the connection.
  expect(await sealFormerSecrets(sql, first)).toEqual({ sealed: 6, closed: 0 });
  expect(await keysInUse()).toEqual(['a']);
  expect(await sealFormerSecrets(sql, first)).toEqual({ sealed: 0, closed: 0 });

  const deployment = { db: sql, config: first };
  expect(await openText(deployment, await storedKey(id), hmacKeyPlace(id))).toBe(hmac_key);
  expect(await linkSecret(deployment)).toBe(links);
  expect((await webhookSigningKey(deployment)()).kid).toBe(signing.kid);
  const [row] = await sql<{ secrets: { secret_key: string } }[]>`select secrets from payment_providers`;
  const place = { table: 'payment_providers', row: connected, field: 'secrets.secret_key' };
  expect(await openText(deployment, row!.secrets.secret_key, place)).toBe('sk_live_1');
});

test('a start with a key leaves texts sealed by another named key to a rotation', async () => {
  const { sql } = database;
  await acme(settings(A));
  expect(await sealFormerSecrets(sql, settings(`${B},${A}`))).toEqual({ sealed: 0, closed: 0 });
  expect(await keysInUse()).toEqual(['a']);
});

test('a rotated secret of links no longer signs and is accepted until its links have expired', async () => {
  const { sql } = database;
  const config = settings(A);
  const deployment = { db: sql, config };
  const former = await linkSecret(deployment);
  await rotateKey({ sql, config }, 'links');
  const current = await linkSecret(deployment);
  expect(current).not.toBe(former);
  expect(await linkSecrets(deployment, 24)).toEqual([current, former]);
  await sql`update deployment_keys set retired_at = retired_at - interval '25 hours' where retired_at is not null`;
  expect(await linkSecrets(deployment, 24)).toEqual([current]);
});

test('two processes that start at the same time seal every text once', async () => {
  const { sql } = database;
  await acme(settings(undefined));
  const [one, two] = await Promise.all([sealFormerSecrets(sql, settings(A)), sealFormerSecrets(sql, settings(A))]);
  expect(one.sealed + two.sealed).toBe(2);
  expect(await keysInUse()).toEqual(['a']);
});
