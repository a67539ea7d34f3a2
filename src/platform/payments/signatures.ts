import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Age of the oldest accepted signature, so that a recorded one cannot be used later. Rule:
 * provider-connections.md#inbound-events.
 */
export const TOLERANCE_SECONDS = 300;

/** A body as received: decoding would lose invalid bytes, which the signature covers too. */
export type Body = Buffer | string;

/** HMAC-SHA256 of the parts, one after the other. */
export const hmac = (secret: Buffer | string, encoding: 'hex' | 'base64', ...parts: Body[]): string => {
  const digest = createHmac('sha256', secret);
  for (const part of parts) digest.update(part);
  return digest.digest(encoding);
};

/** Compares two signatures in constant time. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether a signature's time, in seconds, is near enough to now. */
export const isRecent = (at: string, nowSeconds: number): boolean =>
  /^\d{1,12}$/.test(at) && Math.abs(nowSeconds - Number(at)) <= TOLERANCE_SECONDS;
