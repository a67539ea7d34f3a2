import { timingSafeEqual } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import type { Db, Sql } from '../../../platform/db/connect.ts';
import { digestOf, isCsrfToken } from './csrf-token.ts';

/** A living session as requests need it. */
export interface SessionRow {
  id: string;
  csrf_key: Uint8Array;
  operator_digest: Uint8Array | null;
  created_at: Temporal.Instant;
  last_seen_at: Temporal.Instant;
  expires_at: Temporal.Instant;
}

/** What a browser sends: the token of its cookie, and the token that its page got from `GET /console/session`. */
export interface Presented {
  token: string;
  csrfToken: string | undefined;
}

export interface Lives {
  now: Temporal.Instant;
  idleMinutes: number;
}

const SEEN_EVERY = Temporal.Duration.from({ minutes: 1 });

/** Sessions that are neither ended nor expired, and were used lately. Rule: console.md#sessions. */
export const isLiving = (db: Db, { now, idleMinutes }: Lives) => db`
  session.ended_at is null and session.expires_at > ${now}
    and session.last_seen_at > ${now.subtract({ minutes: idleMinutes })}`;

export const sessionColumns = (db: Db) => db`
  session.id, session.csrf_key, session.operator_digest, session.created_at, session.last_seen_at, session.expires_at`;

/** The living session of a cookie, which proves nothing about the page that sends it. */
export async function findSession(db: Db, token: string, lives: Lives): Promise<SessionRow | undefined> {
  const [row] = await db<SessionRow[]>`
    select ${sessionColumns(db)} from console_sessions session
    where session.token_digest = ${digestOf(token)} and ${isLiving(db, lives)}`;
  return row;
}

/** The living session of a request of the console's own page: cookie and token of one session. */
export async function findPresented(db: Db, presented: Presented, lives: Lives): Promise<SessionRow | undefined> {
  const session = await findSession(db, presented.token, lives);
  return session && isCsrfToken(presented.csrfToken, session) ? session : undefined;
}

/** Whether a session was signed in with the operator's token that the settings have now. */
export const isOperator = (session: SessionRow, operatorToken: string | undefined): boolean =>
  operatorToken !== undefined &&
  session.operator_digest !== null &&
  timingSafeEqual(session.operator_digest, digestOf(operatorToken));

/** Notes that a session was used, at most once a minute. */
export async function noteSeen(db: Sql, session: SessionRow, now: Temporal.Instant): Promise<void> {
  if (Temporal.Instant.compare(now, session.last_seen_at.add(SEEN_EVERY)) < 0) return;
  await db`
    update console_sessions set last_seen_at = ${now} where id = ${session.id} and last_seen_at < ${now}`;
}
