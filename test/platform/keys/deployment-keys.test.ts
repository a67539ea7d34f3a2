import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  linkSecret,
  rotateKey,
  webhookPublicKeys,
  webhookSigningKey,
} from '../../../src/platform/keys/deployment-keys.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the first callers of all processes create one key together', async () => {
  const deployment = { db: database.sql, config: {} };
  const keys = await Promise.all([
    webhookSigningKey(deployment)(),
    webhookSigningKey(deployment)(),
    webhookSigningKey(deployment)(),
  ]);
  expect(new Set(keys.map((key) => key.kid)).size).toBe(1);
  const [published, ...others] = await webhookPublicKeys(deployment);
  expect(others).toEqual([]);
  expect(published!.kid).toBe(keys[0]!.kid);
  expect(createPublicKey(published!.pem).asymmetricKeyDetails?.modulusLength).toBe(2048);
});

test('a rotated key no longer signs and stays published for 7 days', async () => {
  const deployment = { db: database.sql, config: {} };
  const former = await webhookSigningKey(deployment)();
  await rotateKey({ sql: database.sql, config: {} }, 'webhooks');
  const current = await webhookSigningKey(deployment)();
  expect(current.kid).not.toBe(former.kid);
  expect((await webhookPublicKeys(deployment)).map((key) => key.kid)).toEqual([current.kid, former.kid]);
  await database.sql`update deployment_keys set retired_at = retired_at - interval '7 days' where id = ${former.kid}`;
  expect((await webhookPublicKeys(deployment)).map((key) => key.kid)).toEqual([current.kid]);
});

test('the secret of links has 32 bytes and stays the same', async () => {
  const deployment = { db: database.sql, config: {} };
  const secret = await linkSecret(deployment);
  expect(Buffer.from(secret, 'base64')).toHaveLength(32);
  expect(await linkSecret(deployment)).toBe(secret);
});
