import type { Request, Response } from 'express';
import {
  findPresented,
  isLiving,
  isOperator,
  type Lives,
  noteSeen,
  type Presented,
  type SessionRow,
  sessionColumns,
} from '../../areas/tenancy/console-sessions/admit.ts';
import { digestOf, isCsrfToken } from '../../areas/tenancy/console-sessions/csrf-token.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { isUuid } from '../../platform/ids.ts';
import { type Identity, identityOf, type KeyRow, keyColumns } from '../authenticate.ts';
import { answeredInTime } from '../database-in-time.ts';
import { FairGate } from '../fair-gate.ts';
import { addressOf, type Limiters } from '../rate-limit.ts';
import { tokenIn } from './cookie.ts';

const TOKEN_HEADER = 'x-console-token';
const ORGANIZATION_HEADER = 'x-console-organization';
/** In place of an organization's id, for the operator's routes. */
export const OPERATOR = 'operator';
const LOOKUP_TIMEOUT_MS = 10_000;
/** Look-ups of one address at the same time; further ones wait, and are refused once it is over its limit. */
const lookups = new FairGate({ perKey: 8, waitingPerKey: 200, waitsMs: LOOKUP_TIMEOUT_MS });

export interface SessionDeps {
  sql: Sql;
  config: Config;
  limiters: Pick<Limiters, 'refuseIfAddressIsOver'>;
}

/** Cookie and token of a request, if it has a cookie and no Authorization header. */
export function presentedBy({ headers }: Pick<Request, 'headers'>, config: Config): Presented | undefined {
  if (headers.authorization !== undefined) return undefined;
  const token = tokenIn(headers, config);
  const sent = headers[TOKEN_HEADER];
  return token === undefined ? undefined : { token, csrfToken: typeof sent === 'string' ? sent : undefined };
}

export const livesBy = (config: Config): Lives => ({ now: realNow(), idleMinutes: config.CONSOLE_IDLE_MINUTES });

/**
 * The identity of a request without a key that a session of the console sends: cookie, `X-Console-Token` and
 * `X-Console-Organization`, with the permissions that its key has now. Null as without a key.
 * Rule: console.md#letting-a-request-in.
 *
 * @throws Refusal 429, once the address is known to be over its limit
 */
export async function admitSession(deps: SessionDeps, request: Request, response: Response): Promise<Identity | null> {
  const presented = presentedBy(request, deps.config);
  const organizationId = request.headers[ORGANIZATION_HEADER];
  if (presented?.csrfToken === undefined || typeof organizationId !== 'string' || !isUuid(organizationId)) return null;
  const lives = livesBy(deps.config);
  const row = await lookUp(deps, request, response, async () => {
    const [found] = await deps.sql<(SessionRow & KeyRow)[]>`
      select ${sessionColumns(deps.sql)}, ${keyColumns(deps.sql)}
      from console_sessions session
      join console_identities identity on identity.session_id = session.id
      join api_keys key on key.id = identity.api_key_id and key.organization_id = identity.organization_id
      join organizations organization on organization.id = key.organization_id
      where identity.organization_id = ${organizationId} and session.token_digest = ${digestOf(presented.token)}
        and ${isLiving(deps.sql, lives)} and (key.expires_at is null or key.expires_at > ${lives.now})`;
    return found;
  });
  if (!row || !isCsrfToken(presented.csrfToken, row)) return null;
  await noteSeen(deps.sql, row, lives.now);
  return { ...identityOf(row), sessionId: row.id };
}

/** Whether a page of the console asks as the operator, whatever its session may do. */
export const isOperatorsPage = ({ headers }: Pick<Request, 'headers'>): boolean =>
  headers[ORGANIZATION_HEADER] === OPERATOR;

/** Whether a session that was signed in with the operator's token sends a request for the operator's routes. */
export async function isOperatorsSession(deps: SessionDeps, request: Request, response: Response): Promise<boolean> {
  const presented = presentedBy(request, deps.config);
  if (presented?.csrfToken === undefined || !isOperatorsPage(request)) return false;
  const lives = livesBy(deps.config);
  const session = await lookUp(deps, request, response, () => findPresented(deps.sql, presented, lives));
  if (!session || !isOperator(session, deps.config.OPERATOR_TOKEN)) return false;
  await noteSeen(deps.sql, session, lives.now);
  return true;
}

/** Reads for an unknown caller: few at once for an address, none once it is over its limit. */
export function lookUp<Found>(
  { limiters }: SessionDeps,
  request: Request,
  response: Response,
  read: () => Promise<Found>,
): Promise<Found> {
  limiters.refuseIfAddressIsOver(request, response);
  const waited = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
  return lookups.run(addressOf(request), () => answeredInTime(read(), LOOKUP_TIMEOUT_MS), waited);
}
