import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DOCUMENTS_PATH } from '../../areas/messaging/documents/signed-link.ts';
import { claimedPayable, PAY_PATH } from '../../areas/messaging/mails/pay-link.ts';
import { PORTAL_PATH, readToken } from '../../areas/messaging/mails/portal-token.ts';
import type { Pointer } from '../../platform/cells/directory.ts';
import { isUuid } from '../../platform/ids.ts';
import { BASE_PATH } from '../answer-request.ts';
import { bearerToken } from '../authenticate.ts';
import { authorizationOf } from '../authorization.ts';

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

/**
 * What of a request leads to its cell: the key, the organization of a provider's address, the record that a link names.
 * Nothing of it is checked here: the cell does that, as if it were alone.
 *
 * Rule: cells.md#requests.
 */
export function wantedBy(request: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>): Wanted {
  const [path = '', query] = (request.url ?? '').split('?', 2);
  if (OF_ONE_CELL.some((prefix) => path.startsWith(prefix)))
    return { by: 'name', name: new URLSearchParams(query).get('cell') };
  if (path.startsWith(`${BASE_PATH}/`)) return ofKey(request);
  if (path.startsWith('/webhooks/')) return ofId('organization', segmentOf(path, 3));
  if (path.startsWith(`${DOCUMENTS_PATH}/`)) return ofId('link', segmentOf(path, 2));
  if (path.startsWith(`${PAY_PATH}/`)) return ofId('link', claimedPayable(segmentOf(path, 2)));
  if (path.startsWith(`${PORTAL_PATH}/`)) return ofId('link', readToken(segmentOf(path, 2))?.customerId);
  return ANY;
}

function ofKey(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): Wanted {
  const token = bearerToken(authorizationOf(request));
  if (token === null) return ANY;
  return { by: 'pointer', pointer: { kind: 'key', digest: createHash('sha256').update(token).digest() } };
}

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
