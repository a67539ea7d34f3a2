import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { realNow, realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { publicUrl } from '../../../platform/public-url.ts';

/** Path of customers' pages, outside the base path of the API because a browser opens them without a key. */
export const PORTAL_PATH = '/customer-portal';

const AUDIENCE = 'portal';
/** Claims and HMAC-SHA256, both in base64url; our claims have some 120 characters. */
const FORM = /^([\w-]{1,512})\.([\w-]{43})$/;

/** Claim of a link from which its holder may read, and do nothing. */
const READ = 'read';

const Claims = z.object({ sub: z.uuid(), exp: z.int(), aud: z.literal(AUDIENCE), scope: z.literal(READ).optional() });

/** The claims of a token before its signature is checked. */
export interface ReadToken {
  customerId: CustomerId;
  /** Whether the page offers what its customer can do; else it only shows. */
  mayAct: boolean;
  isExpired: boolean;
  payload: string;
  signature: string;
}

/**
 * Address of a customer's page, valid for PORTAL_TOKEN_TTL_HOURS of real time, under a test clock too
 * (test-clocks.md#which-time-is-used-where). Its token is `base64url({sub, exp, aud}).base64url(HMAC-SHA256)`, with
 * `"scope":"read"` where nothing may be done from the page.
 * Rule: customers.md#deletion-portal-checkout.
 */
export function portalUrl(config: Config, secret: string, of: { customerId: CustomerId; mayAct: boolean }): string {
  const expiresAt = realNow().add({ hours: config.PORTAL_TOKEN_TTL_HOURS });
  const claims = {
    sub: of.customerId,
    exp: Math.floor(expiresAt.epochMilliseconds / 1000),
    aud: AUDIENCE,
    ...(of.mayAct ? {} : { scope: READ }),
  };
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${portalBase(config)}${PORTAL_PATH}/${payload}.${signatureOf(secret, payload)}`;
}

const portalBase = (config: Config): string => config.CUSTOMER_PORTAL_URL?.replace(/\/+$/, '') ?? publicUrl(config);

const DAY_MS = 86_400_000;

/**
 * The claims of a token; undefined for a malformed or expired one.
 *
 * expiredDays  how long ago it may have expired, for callers that look at `isExpired`
 */
export function readToken(token: string, { expiredDays = 0 }: { expiredDays?: number } = {}): ReadToken | undefined {
  const [, payload, signature] = FORM.exec(token) ?? [];
  if (payload === undefined || signature === undefined) return undefined;
  const claims = Claims.safeParse(parsed(payload)).data;
  if (claims === undefined || claims.exp * 1000 + expiredDays * DAY_MS <= realNowMs()) return undefined;
  const isExpired = claims.exp * 1000 <= realNowMs();
  return { customerId: claims.sub, mayAct: claims.scope === undefined, isExpired, payload, signature };
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** Whether the token was signed with the secret; compares in constant time. */
export const isSigned = ({ payload, signature }: ReadToken, secret: string): boolean =>
  timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(secret, payload)));

const signatureOf = (secret: string, payload: string): string =>
  createHmac('sha256', secret).update(payload).digest('base64url');
