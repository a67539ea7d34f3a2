import { type Body, hmac, isRecent, isSame } from '../signatures.ts';

/**
 * Whether a body was signed with the secret by Stripe: any `v1` of the header may match.
 * Rule: provider-connections.md#inbound-events.
 */
export function isSignedByStripe(body: Body, header: string, secret: string, nowSeconds: number): boolean {
  const parts = header.split(',').map((part) => part.trim().split('=', 2) as [string, string | undefined]);
  const at = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!isRecent(at, nowSeconds)) return false;
  const expected = hmac(secret, 'hex', `${at}.`, body);
  return parts.some(([name, value]) => name === 'v1' && isSame(value ?? '', expected));
}
