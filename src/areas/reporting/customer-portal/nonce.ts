import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { CustomerId } from '../../../platform/ids.ts';

const RANDOM_BYTES = 16;
/** How long a form can be sent after it was shown. */
const LIFE_HOURS = 12;
const LIFE_MS = LIFE_HOURS * 3_600_000;
/** Seconds since 1970 in base 36, 16 random bytes and half of HMAC-SHA256, both in base64url. */
const FORM = /^([0-9a-z]{6,8})\.([\w-]{22})\.([\w-]{22})$/;
const SIGNATURE_BYTES = 16;

// The purpose stands in the signed text, because the same secret signs links to documents and portals.
const signatureOf = (secret: string, customerId: CustomerId, body: string): string =>
  createHmac('sha256', secret)
    .update(`portal-form:${customerId}:${body}`)
    .digest()
    .subarray(0, SIGNATURE_BYTES)
    .toString('base64url');

/** A nonce of a form of a customer's page. Rule: portal.md#forms. */
export function newNonce(secret: string, customerId: CustomerId): string {
  const seconds = Math.floor(realNowMs() / 1000).toString(36);
  const body = `${seconds}.${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  return `${body}.${signatureOf(secret, customerId, body)}`;
}

/** Whether a nonce was made here for this customer within the last 12 hours. */
export function isOwnNonce(nonce: string, secret: string, customerId: CustomerId): boolean {
  const [, seconds, random, signature] = FORM.exec(nonce) ?? [];
  if (seconds === undefined || random === undefined || signature === undefined) return false;
  const expected = signatureOf(secret, customerId, `${seconds}.${random}`);
  const ageMs = realNowMs() - Number.parseInt(seconds, 36) * 1000;
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) && ageMs < LIFE_MS;
}

/**
 * The Idempotency-Key of a form: back, reload and a double click are one write, a corrected field is another.
 *
 * fields  what was sent besides the nonce
 * Rule: portal.md#forms.
 */
export function formKey(customerId: CustomerId, nonce: string, fields: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return `portal-${createHash('sha256')
    .update(JSON.stringify([customerId, nonce, sorted]))
    .digest('hex')}`;
}
