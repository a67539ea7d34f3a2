import { createHmac, timingSafeEqual } from 'node:crypto';
import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { linkSecret, linkSecrets } from '../../../platform/keys/deployment-keys.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { refuse } from '../../../platform/refusal.ts';

/** Where documents are served, outside the base path of the API: a browser opens them without a key. */
export const DOCUMENTS_PATH = '/documents';

/** Address of a document that works without a key until it expires. Real time, also under a test clock. */
export async function documentLink(db: Db, config: Config, documentId: DocumentId): Promise<string> {
  return (await documentLinks(db, config, [documentId])).get(documentId)!;
}

/** Addresses of many documents, by id: one statement, whatever their number. */
export async function documentLinks(
  db: Db,
  config: Config,
  documentIds: readonly DocumentId[],
): Promise<Map<string, string>> {
  if (documentIds.length === 0) return new Map();
  const expires = Math.floor(realNowMs() / 1000) + config.DOCUMENT_LINK_TTL_HOURS * 3600;
  const secret = await linkSecret({ db, config });
  return new Map(documentIds.map((id) => [id, addressOf(config, secret, id, expires)]));
}

/**
 * Checks the link of a document.
 *
 * @throws Refusal 403 invalid_signature, when it was not made here or changed since
 * @throws Refusal 403 link_expired
 */
export async function checkDocumentLink(
  deployment: { db: Db; config: Config },
  link: { documentId: DocumentId; expires: unknown; signature: unknown },
): Promise<void> {
  const { documentId, expires, signature } = link;
  if (!isUuid(documentId) || typeof expires !== 'string' || typeof signature !== 'string')
    throw refuse.forbidden('invalid_signature');
  const given = Buffer.from(signature);
  const secrets = await linkSecrets(deployment, deployment.config.DOCUMENT_LINK_TTL_HOURS);
  const isOurs = secrets.some((secret) => {
    const expected = Buffer.from(signatureOf(secret, documentId, expires));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) throw refuse.forbidden('invalid_signature');
  if (Number(expires) * 1000 < realNowMs()) throw refuse.forbidden('link_expired');
}

const addressOf = (config: Config, secret: string, documentId: DocumentId, expires: number): string =>
  `${publicUrl(config)}${DOCUMENTS_PATH}/${documentId}?expires=${expires}&signature=${signatureOf(secret, documentId, String(expires))}`;

const signatureOf = (secret: string, documentId: DocumentId, expires: string): string =>
  createHmac('sha256', secret).update(`document:${documentId}:${expires}`).digest('base64url');
