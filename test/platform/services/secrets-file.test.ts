import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localSecretsKey, readLocalSecretsKey } from '../../../src/platform/services/secrets-file.ts';
import { newDataFolder } from './data-folder.ts';

test('the secrets key of a data folder is created once, for its user only, also beside the draft of a killed start', async () => {
  const folder = await newDataFolder();
  await writeFile(join(folder, 'secrets.key.new'), 'half', { mode: 0o644 });
  const { SECRETS_KEYS, madeAt } = await localSecretsKey(folder);
  expect(madeAt).toBe(join(folder, 'secrets.key'));
  expect(SECRETS_KEYS).toMatch(/^local-[0-9a-f]{8}:[A-Za-z0-9+/]{43}=$/);
  expect((await stat(madeAt!)).mode & 0o777).toBe(0o600);
  expect(await localSecretsKey(folder)).toEqual({ SECRETS_KEYS });
  expect(await readLocalSecretsKey(folder)).toEqual({ SECRETS_KEYS });
});
