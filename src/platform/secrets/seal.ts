import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const MARK = 'v2:';
const FORMER_MARK = 'sealed:';

/** A key by its name, which is part of every text that the key has sealed. */
export interface SealingKey {
  id: string;
  /** 32 bytes. */
  bytes: Buffer;
}

/** The place of a sealed text: moved elsewhere, it does not open. */
export interface Place {
  table: string;
  row: string;
  /** The meaning of the text, not its column: a former secret of a row is the same field as the current one. */
  field: string;
}

/** The key derived from a text of any length. */
export const keyOfText = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'stored answers', KEY_BYTES));

/**
 * `v2:<key id>:<base64(nonce ‖ ciphertext ‖ tag)>`, AES-256-GCM bound to its place.
 * Rule: provider-connections.md#secrets.
 */
export function sealWith(key: SealingKey, text: string, place: Place): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(additionalData(place));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${MARK}${key.id}:${sealed.toString('base64')}`;
}

/** The sealed text. @throws Error when the key or the place differs, or the text was changed */
export const openWith = (key: SealingKey, sealed: string, place: Place): string =>
  decrypt(key.bytes, sealed.slice(MARK.length + key.id.length + 1), additionalData(place));

/** A text sealed in the first form, `sealed:<base64>`, which had neither key names nor places. */
export const openFormer = (bytes: Buffer, sealed: string): string => decrypt(bytes, sealed.slice(FORMER_MARK.length));

/** Name of the key that sealed a text; undefined for any other text. */
export const keyIdOf = (text: string): string | undefined => /^v2:([a-z0-9-]{1,20}):/.exec(text)?.[1];

export const isFormerForm = (text: string): boolean => text.startsWith(FORMER_MARK);

/** Whether a text is sealed, in either form. */
export const isSealed = (text: string): boolean => keyIdOf(text) !== undefined || isFormerForm(text);

const additionalData = ({ table, row, field }: Place): Buffer => Buffer.from(`${table}:${row}:${field}`);

function decrypt(key: Buffer, base64: string, additional?: Buffer): string {
  const sealed = Buffer.from(base64, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
  if (additional) decipher.setAAD(additional);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
}
