import type { IncomingMessage } from 'node:http';
import { DOCUMENTS_PATH } from '../../areas/messaging/documents/signed-link.ts';
import { claimedPayable, PAY_PATH } from '../../areas/messaging/mails/pay-link.ts';
import { PORTAL_PATH, readToken } from '../../areas/messaging/mails/portal-token.ts';
import { digestOf } from '../../areas/tenancy/console-sessions/csrf-token.ts';
import type { Credential } from '../../areas/tenancy/console-sessions/sign-in.ts';
import type { Pointer } from '../../platform/cells/directory.ts';
import type { Config } from '../../platform/config.ts';
import { isUuid } from '../../platform/ids.ts';
import { BASE_PATH } from '../answer-request.ts';
import { bearerToken } from '../authenticate.ts';
import { authorizationOf } from '../authorization.ts';
import { isOperatorsPage } from '../console/admit-session.ts';
import { tokenIn } from '../console/cookie.ts';
import { MAIL_VIEW_PATH } from '../console/mail-view.ts';
import { SESSION_PATH } from '../console/session-routes.ts';

/** Which cell a request is for, as far as it says so itself. */
export type Wanted =
  | { by: 'pointer'; pointer: Pointer }
  /** The operator names the cell; null where the request leaves it out. */
  | { by: 'name'; name: string | null }
  /** Whatever cell answers is right: unknown paths, documentation, calls without a key. */
  | { by: 'any' };

const ANY: Wanted = { by: 'any' };
/** Routes of the operator that are those of one cell. */
const OF_ONE_CELL = [`${BASE_PATH}/operations/`, '/ready', '/metrics'];
const SAFE_ID = /^[\w.%-]{1,600}$/;

type Sent = Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>;

/**
 * What of a request leads to its cell: the key, the session of its cookie, the organization of a provider's address,
 * the record that a link names. Nothing of it is checked here: the cell does that, as if it were alone.
 *
 * Rule: cells.md#requests.
 */
export function wantedBy(request: Sent, config: Pick<Config, 'PUBLIC_URL'>): Wanted {
  const [path = '', query] = (request.url ?? '').split('?', 2);
  if (OF_ONE_CELL.some((prefix) => path.startsWith(prefix))) {
    const name = new URLSearchParams(query).get('cell');
    return name === null && isOperatorsPage(request) ? ofSession(request, config) : { by: 'name', name };
  }
  if (path.startsWith(`${BASE_PATH}/`))
    return authorizationOf(request) === undefined ? ofSession(request, config) : ofKey(request);
  if (path === MAIL_VIEW_PATH || path === SESSION_PATH || path.startsWith(`${SESSION_PATH}/`))
    return ofSession(request, config);
  if (path.startsWith('/webhooks/')) return ofId('organization', segmentOf(path, 3));
  if (path.startsWith(`${DOCUMENTS_PATH}/`)) return ofId('link', segmentOf(path, 2));
  if (path.startsWith(`${PAY_PATH}/`)) return ofId('link', claimedPayable(segmentOf(path, 2)));
  if (path.startsWith(`${PORTAL_PATH}/`)) return ofId('link', readToken(segmentOf(path, 2))?.customerId);
  return ANY;
}

/** Whether a request signs a browser in: what leads to its cell is in its body. */
export const isSignIn = ({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): boolean =>
  method === 'POST' && (url ?? '').split('?', 1)[0] === SESSION_PATH;

/** The cell that knows what a browser signs in with; the operator's token is that of all. */
export function wantedByCredential(credential: Credential): Wanted {
  if ('api_key' in credential) return by({ kind: 'key', digest: digestOf(credential.api_key) });
  return 'code' in credential ? by({ kind: 'code', digest: digestOf(credential.code) }) : ANY;
}

function ofKey(request: Sent): Wanted {
  const token = bearerToken(authorizationOf(request));
  return token === null ? ANY : by({ kind: 'key', digest: digestOf(token) });
}

function ofSession(request: Sent, config: Pick<Config, 'PUBLIC_URL'>): Wanted {
  const token = tokenIn(request.headers, config);
  return token === undefined ? ANY : by({ kind: 'session', digest: digestOf(token) });
}

const by = (pointer: Pointer): Wanted => ({ by: 'pointer', pointer });

const ofId = (kind: 'organization' | 'link', id: string | undefined): Wanted =>
  id !== undefined && isUuid(id) ? { by: 'pointer', pointer: { kind, id: id.toLowerCase() } } : ANY;

/** A part of the path as Express would decode it; empty for one that no link of ours has. */
function segmentOf(path: string, place: number): string {
  const sent = path.split('/', place + 1)[place] ?? '';
  if (!SAFE_ID.test(sent)) return '';
  try {
    return decodeURIComponent(sent);
  } catch {
    return '';
  }
}
