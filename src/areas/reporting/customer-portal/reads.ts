import type { Instant } from '../../../engine/calendar/instants.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { linkSecrets } from '../../../platform/keys/deployment-keys.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isSigned, readToken } from '../../messaging/mails/portal-token.ts';
import { findPortalCustomer, type PortalCustomer, type Slice } from './queries.ts';

/** How many rows of a list are on the page; further ones are pages of the list. */
const ROWS = 20;
const MOST_PAGES = 999;

export interface List<Row> {
  rows: readonly Row[];
  /** From 1. */
  page: number;
  hasMore: boolean;
}

/** Who a link is for, what its holder may do, and the present there. */
export interface Admission {
  customer: PortalCustomer;
  mayAct: boolean;
  now: Instant;
  /** The secret by which the link was signed; what a page signs is signed by it too. */
  secret: string;
}

/** A link whose signature is right and whose life is over, by at most EXPIRED_DAYS. */
export interface Expired {
  expired: PortalCustomer;
  secret: string;
}

/** How long after its end a link still leads to a page that offers a new one. */
const EXPIRED_DAYS = 400;
const DAY_HOURS = 24;

/**
 * The customer of a token, whether it may act there, and the present of its organization. One round trip.
 *
 * @throws Refusal 401, when the token is not one of ours, has expired long ago or its customer is deleted
 * Rules: customers.md#deletion-portal-checkout, portal.md#links-that-have-expired.
 */
export async function admit({ db, config }: { db: Db; config: Config }, token: string): Promise<Admission | Expired> {
  const read = readToken(token, { expiredDays: EXPIRED_DAYS });
  if (read === undefined) throw refuse.unauthorized();
  const life = config.PORTAL_TOKEN_TTL_HOURS + (read.isExpired ? EXPIRED_DAYS * DAY_HOURS : 0);
  const [secrets, customer] = await Promise.all([
    linkSecrets({ db, config }, life),
    findPortalCustomer(db, read.customerId),
  ]);
  const secret = secrets.find((each) => isSigned(read, each));
  if (secret === undefined || customer === undefined) throw refuse.unauthorized();
  if (read.isExpired) return { expired: customer, secret };
  return { customer, mayAct: read.mayAct, now: customer.frozen_time ?? realNow(), secret };
}

/** The page of a list that a query asks for, from 1; any other text is the first. */
export function pageIn(query: URLSearchParams): number {
  const asked = query.get('page') ?? '';
  return /^\d{1,3}$/.test(asked) ? Math.min(Math.max(Number(asked), 1), MOST_PAGES) : 1;
}

/** One row more than is shown, to know whether there is another page. */
export async function listOf<Row>(
  page: number,
  read: (slice: Slice) => PromiseLike<readonly Row[]>,
): Promise<List<Row>> {
  const rows = await read({ limit: ROWS + 1, offset: (page - 1) * ROWS });
  return { rows: rows.slice(0, ROWS), page, hasMore: rows.length > ROWS };
}
