import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MARK = 'sealed:';

const keyOf = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'stored answers', 32));

/** Text encrypted with AES-256-GCM under a key derived from `secret`; begins with a mark of its own. */
export function seal(text: string, secret: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce);
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return MARK + sealed.toString('base64');
}

/** Whether a stored text was sealed: answers of the API are JSON and never begin like this. */
export const isSealed = (text: string): boolean => text.startsWith(MARK);

/** What was sealed. Throws when the secret is another one or the text was changed. */
export function unseal(text: string, secret: string): string {
  const sealed = Buffer.from(text.slice(MARK.length), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
}
