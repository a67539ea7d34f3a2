import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The token that a page sends beside its cookie: base64url(HMAC-SHA256(key, "csrf:" + id)). */
export const csrfTokenOf = (session: { id: string; csrf_key: Uint8Array }): string =>
  createHmac('sha256', session.csrf_key).update(`csrf:${session.id}`).digest('base64url');

/** Whether a text is the token of a session, compared in constant time. Rule: console.md#letting-a-request-in. */
export const isCsrfToken = (sent: string | undefined, session: { id: string; csrf_key: Uint8Array }): boolean =>
  sent !== undefined && isSameText(sent, csrfTokenOf(session));

/** Compares digests, so that the time tells neither the length nor where texts differ. */
export const isSameText = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other));

/** SHA-256 of a secret: all that is kept of it. */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
