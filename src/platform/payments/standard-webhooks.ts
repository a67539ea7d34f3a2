import { standardSignature } from '../keys/webhook-signatures.ts';
import { hmac, isRecent, isSame } from './signatures.ts';

const PREFIX = 'whsec_';

/** Headers of a message signed by Standard Webhooks (standardwebhooks.com). */
export const standardHeaders = (
  secret: string,
  { id, nowSeconds, body }: { id: string; nowSeconds: number; body: string },
): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(nowSeconds),
  'webhook-signature': standardSignature([secret], { id, timestamp: String(nowSeconds), body }),
});

/** Whether a message was signed with the secret a short while ago; any of the signatures in the header may match. */
export function isSignedStandard(
  header: (name: string) => string | undefined,
  { body, secret, nowSeconds }: { body: Buffer; secret: string; nowSeconds: number },
): boolean {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => header(name));
  if (!id || !at || !signatures || !isRecent(at, nowSeconds)) return false;
  const expected = `v1,${hmac(Buffer.from(secret.slice(PREFIX.length), 'base64'), 'base64', `${id}.${at}.`, body)}`;
  return signatures.split(' ').some((each) => isSame(each, expected));
}
