import { createHmac } from 'node:crypto';
import { CompactSign } from 'jose';
import { SIGNING_ALGORITHM, type SigningKey } from './deployment-keys.ts';

const SECRET_PREFIX = 'whsec_';

/** HMAC-SHA256 of the body in Base64, keyed by the text of the organization's `hmac_key` (webhooks.md#signatures). */
export const hmacSignature = (hmacKey: string, body: string): string =>
  createHmac('sha256', hmacKey).update(body).digest('base64');

/** Compact JWS whose claims are the body as text and the address of the API, without dates (webhooks.md#signatures). */
export const jwtSignature = (key: SigningKey, body: string, issuer: string): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify({ data: body, iss: issuer })))
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: key.kid })
    .sign(key.privateKey);

/**
 * Signature of the Standard Webhooks header, one for each valid secret: `v1,<Base64>` of `<id>.<timestamp>.<body>`,
 * separated by spaces (webhooks.md#delivery).
 */
export const standardSignature = (
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: string; body: string },
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
