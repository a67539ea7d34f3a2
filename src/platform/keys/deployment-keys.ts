import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type CryptoKey, importPKCS8 } from 'jose';
import type { Temporal } from 'temporal-polyfill';
import { realNow, realNowMs } from '../clock/real-clock.ts';
import type { Db, Sql } from '../db/connect.ts';
import { newId } from '../ids.ts';
import { configuredKeys, type Deployment, openText, privateKeyPlace, sealText } from '../secrets/secrets.ts';

/** Purposes of the deployment's keys: the RSA pair that signs webhooks, and the secret that signs links. */
type Purpose = 'webhooks' | 'links';

/** JWS algorithm of the webhook signatures (webhooks.md#signatures). */
export const SIGNING_ALGORITHM = 'RS256';
const RSA_BITS = 2048;
const LINK_SECRET_BYTES = 32;
// A retired pair stays published while anything signed with it may still be under way (webhooks.md#attempts: about 27
// h).
const RETIRED_VALID_HOURS = 7 * 24;
// Time within which every process uses a rotated key.
const CACHE_MS = 60_000;

interface KeyRow {
  id: string;
  public_key: string | null;
  private_key: string;
}

export interface SigningKey {
  /** Names the pair in the signature's header. */
  kid: string;
  privateKey: CryptoKey;
}

export interface PublicKey {
  kid: string;
  /** PEM, SubjectPublicKeyInfo. */
  pem: string;
}

const makeRsaPair = promisify(generateKeyPair);

async function makeKey(purpose: Purpose): Promise<{ publicKey: string | null; privateKey: string }> {
  if (purpose === 'links') return { publicKey: null, privateKey: randomBytes(LINK_SECRET_BYTES).toString('base64') };
  return makeRsaPair('rsa', {
    modulusLength: RSA_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

const findCurrent = async (db: Db, purpose: Purpose): Promise<KeyRow | undefined> => {
  const [row] = await db<KeyRow[]>`
    select id, public_key, private_key from deployment_keys where purpose = ${purpose} and retired_at is null`;
  return row;
};

/**
 * The current key, which the first process that needs it creates for all processes. Its private half is in the form in
 * which it is stored.
 */
async function currentKey(deployment: Deployment, purpose: Purpose): Promise<KeyRow> {
  const { db } = deployment;
  const found = await findCurrent(db, purpose);
  if (found) return found;
  const id = newId();
  const { publicKey, privateKey } = await makeKey(purpose);
  await db`
    insert into deployment_keys (id, purpose, public_key, private_key, created_at)
    values (${id}, ${purpose}, ${publicKey}, ${await storedForm(deployment, id, privateKey)}, ${realNow()})
    on conflict (purpose) where retired_at is null do nothing`;
  return (await findCurrent(db, purpose))!;
}

/** Sealed if the settings have a key. The deployment's own key is in the same table and would protect nothing. */
const storedForm = async (deployment: Deployment, id: string, privateKey: string): Promise<string> =>
  configuredKeys(deployment.config).length === 0 ? privateKey : sealText(deployment, privateKey, privateKeyPlace(id));

const privateKeyOf = (deployment: Deployment, row: Pick<KeyRow, 'id' | 'private_key'>): Promise<string> =>
  openText(deployment, row.private_key, privateKeyPlace(row.id));

/** Public halves of the webhook keys that receivers may still need, newest first; the first one signs. */
export async function webhookPublicKeys(deployment: Deployment): Promise<PublicKey[]> {
  const { db } = deployment;
  await currentKey(deployment, 'webhooks');
  const validSince = realNow().subtract({ hours: RETIRED_VALID_HOURS });
  const rows = await db<{ id: string; public_key: string }[]>`
    select id, public_key from deployment_keys
    where purpose = 'webhooks' and (retired_at is null or retired_at > ${validSince})
    order by retired_at desc nulls first, id desc`;
  return rows.map((row) => ({ kid: row.id, pem: row.public_key }));
}

/** Secret that signs links to documents and portals; Base64 of 32 random bytes. */
export const linkSecret = async (deployment: Deployment): Promise<string> =>
  privateKeyOf(deployment, await currentKey(deployment, 'links'));

/**
 * Secrets by which a link may be signed, the current one first. A retired one opens links until the last link that it
 * signed has expired.
 *
 * hours  life of the links in question
 */
export async function linkSecrets(deployment: Deployment, hours: number): Promise<string[]> {
  const { db } = deployment;
  const validSince = realNow().subtract({ hours });
  const rows = await db<{ id: string; private_key: string }[]>`
    select id, private_key from deployment_keys
    where purpose = 'links' and (retired_at is null or retired_at > ${validSince})
    order by retired_at desc nulls first, id desc`;
  return Promise.all(rows.map((row) => privateKeyOf(deployment, row)));
}

/** Retires the current key and creates a new one; signatures of a retired key stay valid for their time. */
export async function rotateKey(
  { sql, config }: { sql: Sql; config: Deployment['config'] },
  purpose: Purpose,
  now: Temporal.Instant = realNow(),
): Promise<void> {
  const id = newId();
  const { publicKey, privateKey } = await makeKey(purpose);
  await sql.begin(async (tx) => {
    const stored = await storedForm({ db: tx, config }, id, privateKey);
    await tx`update deployment_keys set retired_at = ${now} where purpose = ${purpose} and retired_at is null`;
    await tx`
      insert into deployment_keys (id, purpose, public_key, private_key, created_at)
      values (${id}, ${purpose}, ${publicKey}, ${stored}, ${now})`;
  });
}

/** The signing pair cached by this process: imported once, checked every minute. */
export function webhookSigningKey(deployment: Deployment): () => Promise<SigningKey> {
  let cached: { key: Promise<SigningKey>; untilMs: number } | undefined;
  return () => {
    if (!cached || realNowMs() >= cached.untilMs) {
      const key = loadSigningKey(deployment);
      cached = { key, untilMs: realNowMs() + CACHE_MS };
      key.catch(() => {
        cached = undefined; // the next caller tries again
      });
    }
    return cached.key;
  };
}

async function loadSigningKey(deployment: Deployment): Promise<SigningKey> {
  const row = await currentKey(deployment, 'webhooks');
  return { kid: row.id, privateKey: await importPKCS8(await privateKeyOf(deployment, row), SIGNING_ALGORITHM) };
}
