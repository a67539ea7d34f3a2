import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type CryptoKey, importPKCS8 } from 'jose';
import type { Temporal } from 'temporal-polyfill';
import { realNow, realNowMs } from '../clock/real-clock.ts';
import type { Db, Sql } from '../db/connect.ts';
import { newId } from '../ids.ts';

/** What a key of the deployment is for: the RSA pair that signs webhooks, the secret that signs links. */
type Purpose = 'webhooks' | 'links';

/** JWS algorithm of the webhook signatures (platform G.5). */
export const SIGNING_ALGORITHM = 'RS256';
const RSA_BITS = 2048;
const LINK_SECRET_BYTES = 32;
// A retired pair stays published while anything signed with it may still be under way (platform G.6: about 27 h).
const RETIRED_VALID_HOURS = 7 * 24;
// A rotated key is taken up by every process within this time.
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

/** The key in force; made by whoever needs it first, once for all processes. */
async function currentKey(db: Db, purpose: Purpose): Promise<KeyRow> {
  const found = await findCurrent(db, purpose);
  if (found) return found;
  const { publicKey, privateKey } = await makeKey(purpose);
  await db`
    insert into deployment_keys (id, purpose, public_key, private_key, created_at)
    values (${newId()}, ${purpose}, ${publicKey}, ${privateKey}, ${realNow()})
    on conflict (purpose) where retired_at is null do nothing`;
  return (await findCurrent(db, purpose))!;
}

/** Public halves of the webhook keys that receivers may meet, newest first; the first one signs. */
export async function webhookPublicKeys(db: Db): Promise<PublicKey[]> {
  await currentKey(db, 'webhooks');
  const validSince = realNow().subtract({ hours: RETIRED_VALID_HOURS });
  const rows = await db<{ id: string; public_key: string }[]>`
    select id, public_key from deployment_keys
    where purpose = 'webhooks' and (retired_at is null or retired_at > ${validSince})
    order by retired_at desc nulls first, id desc`;
  return rows.map((row) => ({ kid: row.id, pem: row.public_key }));
}

/** Secret that signs links to documents and portals; Base64 of 32 random bytes. */
export const linkSecret = async (db: Db): Promise<string> => (await currentKey(db, 'links')).private_key;

/** Retires the key in force and puts a new one in its place; a retired signing pair stays published for 7 days. */
export async function rotateKey(sql: Sql, purpose: Purpose, now: Temporal.Instant = realNow()): Promise<void> {
  const { publicKey, privateKey } = await makeKey(purpose);
  await sql.begin(async (tx) => {
    await tx`update deployment_keys set retired_at = ${now} where purpose = ${purpose} and retired_at is null`;
    await tx`
      insert into deployment_keys (id, purpose, public_key, private_key, created_at)
      values (${newId()}, ${purpose}, ${publicKey}, ${privateKey}, ${now})`;
  });
}

/** The signing pair as this process uses it: imported once, looked up again every minute. */
export function webhookSigningKey(db: Db): () => Promise<SigningKey> {
  let cached: { key: Promise<SigningKey>; untilMs: number } | undefined;
  return () => {
    if (!cached || realNowMs() >= cached.untilMs) {
      const key = loadSigningKey(db);
      cached = { key, untilMs: realNowMs() + CACHE_MS };
      key.catch(() => {
        cached = undefined; // the next caller asks again
      });
    }
    return cached.key;
  };
}

async function loadSigningKey(db: Db): Promise<SigningKey> {
  const row = await currentKey(db, 'webhooks');
  return { kid: row.id, privateKey: await importPKCS8(row.private_key, SIGNING_ALGORITHM) };
}
