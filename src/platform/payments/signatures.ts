import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Age of the oldest accepted signature, so that a recorded one cannot be used later. Rule:
 * provider-connections.md#inbound-events.
 */
const TOLERANCE_SECONDS = 300;

/** A body as received: decoding would lose invalid bytes, which the signature covers too. */
type Body = Buffer | string;

const hmac = (secret: string, ...parts: Body[]): string => {
  const digest = createHmac('sha256', secret);
  for (const part of parts) digest.update(part);
  return digest.digest('hex');
};

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Whether a body was signed with the secret by Stripe: any `v1` of the header may match.
 * Rule: provider-connections.md#inbound-events.
 */
export function isSignedByStripe(body: Body, header: string, secret: string, nowSeconds: number): boolean {
  const parts = header.split(',').map((part) => part.trim().split('=', 2) as [string, string | undefined]);
  const at = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(at) || Math.abs(nowSeconds - Number(at)) > TOLERANCE_SECONDS) return false;
  const expected = hmac(secret, `${at}.`, body);
  return parts.some(([name, value]) => name === 'v1' && isSame(value ?? '', expected));
}

/** Whether a body was signed with the secret of a sandbox connection. */
export const isSignedBySandbox = (body: Body, header: string, secret: string): boolean =>
  isSame(header, hmac(secret, body));
