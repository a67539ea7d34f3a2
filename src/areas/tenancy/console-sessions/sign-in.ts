import { randomBytes } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import type { Sql, Tx } from '../../../platform/db/connect.ts';
import { type ApiKeyId, newId, type OrganizationId } from '../../../platform/ids.ts';
import { writeSecurityLogs } from '../../../platform/records/security-log.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isLiving, type Lives, type Presented, type SessionRow, sessionColumns } from './admit.ts';
import { digestOf, isCsrfToken, isSameText } from './csrf-token.ts';
import { useCode } from './one-time-links.ts';
import { dropOldest, insertSession, putIdentity, renewToken } from './writes.ts';

const TOKEN_BYTES = 32;
const CSRF_KEY_BYTES = 32;
/** Organizations that one session may hold. */
const MOST_IDENTITIES = 8;

/** What a person signs in with: one of these. */
export type Credential = { api_key: string } | { code: string } | { operator_token: string };

export interface SignIn {
  credential: Credential;
  /** The session that the browser has, which gets one more organization. */
  presented: Presented | undefined;
  userAgent: string | null;
  remoteAddress: string;
  lives: Lives;
  hours: number;
  operatorToken: string | undefined;
}

interface KeyRow {
  id: ApiKeyId;
  organization_id: OrganizationId;
  last_four: string;
}

/**
 * Signs a browser in. A living session of its own page gets one more organization, else a new one is made; the token of
 * the cookie is new in any case, so that one set by somebody else is worth nothing. Rule: console.md#signing-in.
 *
 * @returns the token of the cookie, when the session ends, and the organization, null for the operator; undefined for
 *   an unknown credential
 * @throws Refusal 422 api_key too_many_identities
 */
export async function signIn(
  sql: Sql,
  input: SignIn,
): Promise<{ token: string; expiresAt: Temporal.Instant; organizationId: OrganizationId | null } | undefined> {
  return sql.begin(async (tx) => {
    const key = await keyOf(tx, input);
    if (key === undefined) return undefined;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const session = await sessionFor(tx, input, token);
    if (key === 'operator') {
      await tx`
        update console_sessions set operator_digest = ${digestOf(input.operatorToken!)} where id = ${session.id}`;
    } else await addKey(tx, session, key, input);
    const organizationId = key === 'operator' ? null : key.organization_id;
    return { token, expiresAt: session.expires_at, organizationId };
  });
}

async function keyOf(tx: Tx, { credential, lives, operatorToken }: SignIn): Promise<KeyRow | 'operator' | undefined> {
  if ('operator_token' in credential)
    return operatorToken !== undefined && isSameText(credential.operator_token, operatorToken) ? 'operator' : undefined;
  const byCode = 'code' in credential ? await useCode(tx, credential.code, lives.now) : undefined;
  if ('code' in credential && byCode === undefined) return undefined;
  const [key] = await tx<KeyRow[]>`
    select id, organization_id, last_four from api_keys
    where ${'code' in credential ? tx`id = ${byCode!}` : tx`value_digest = ${digestOf(credential.api_key)}`}
      and (expires_at is null or expires_at > ${lives.now})`;
  return key;
}

/** The browser's living session under a new token, or a new one. */
async function sessionFor(tx: Tx, input: SignIn, token: string): Promise<SessionRow> {
  const { presented, lives, hours } = input;
  const former = presented && (await lockPresented(tx, presented, lives));
  if (former) {
    await renewToken(tx, former.id, { digest: digestOf(token), now: lives.now });
    return former;
  }
  const session: SessionRow = {
    id: newId(),
    csrf_key: randomBytes(CSRF_KEY_BYTES),
    operator_digest: null,
    created_at: lives.now,
    last_seen_at: lives.now,
    expires_at: lives.now.add({ hours }),
  };
  await insertSession(tx, session, { digest: digestOf(token), ...input });
  return session;
}

async function lockPresented(tx: Tx, presented: Presented, lives: Lives): Promise<SessionRow | undefined> {
  const [row] = await tx<SessionRow[]>`
    select ${sessionColumns(tx)} from console_sessions session
    where session.token_digest = ${digestOf(presented.token)} and ${isLiving(tx, lives)}
    for update`;
  return row && isCsrfToken(presented.csrfToken, row) ? row : undefined;
}

async function addKey(tx: Tx, session: SessionRow, key: KeyRow, input: SignIn): Promise<void> {
  const { lives, userAgent, remoteAddress } = input;
  const organizationId = key.organization_id;
  const [others] = await tx<{ count: number }[]>`
    select count(*) as count from console_identities
    where session_id = ${session.id} and organization_id <> ${organizationId}`;
  if (others!.count >= MOST_IDENTITIES) throw refuse.invalid({ api_key: ['too_many_identities'] });
  // One sign-in of an organization after the other, so that they count each other.
  await tx`select from organizations where id = ${organizationId} for no key update`;
  await putIdentity({ db: tx, organizationId }, { sessionId: session.id, keyId: key.id, now: lives.now });
  await dropOldest({ db: tx, organizationId });
  await writeSecurityLogs(
    tx,
    {
      organizationId,
      actor: { source: 'front', apiKeyId: key.id, client: userAgent },
      realNow: lives.now,
    },
    [
      {
        event: 'user.new_device_logged_in',
        resources: { svc_console_session_id: session.id, last4: key.last_four, remote_address: remoteAddress },
      },
    ],
  );
}
