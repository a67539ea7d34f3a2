import { computed, signal } from '@preact/signals';
import { t } from '../texts/en.ts';
import { go, route } from './route.ts';

export interface Organization {
  svc_id: string;
  name: string;
  slug: string;
  sandbox: boolean;
  has_test_clock: boolean;
  signed_in_as: { kind: 'key' | 'member'; name: string | null; last4: string; email: string | null };
  permissions: Record<string, string[]>;
}

export interface Session {
  csrf_token: string;
  expires_at: string;
  operator: boolean;
  version: string;
  organizations: Organization[];
}

/** Undefined until it was asked for, null without one. */
export const session = signal<Session | null | undefined>(undefined);
/** The session has ended while a page was open, which stays as it is below the sign-in. */
export const hasEnded = signal(false);

/** The organization of the address, if the session holds it. */
export const organization = computed(() => session.value?.organizations.find(({ slug }) => slug === route.value.slug));

export const can = (resource: string, mode: 'read' | 'write' = 'read'): boolean =>
  organization.value?.permissions[resource]?.includes(mode) === true;

const PATH = '/console/session';
/** Where who runs the service begins, without an organization. */
export const OPERATIONS = '/console/o/operator/operations';

/**
 * Asks for the session. A one-time link in the address then adds its organization to it, or makes one; such a link may
 * also be opened in a tab that shows the console already, which loads nothing anew.
 */
export async function openSession(): Promise<void> {
  const code = codeOfLink();
  const answer = await fetch(PATH).catch(() => undefined);
  const known = answer?.ok ? ((await answer.json()) as { session: Session }).session : null;
  if (code !== undefined) await enter(code, known);
  session.value ??= known;
}

/** Takes the code out of the address, so that no history holds it. */
function codeOfLink(): string | undefined {
  const code = /^#enter=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

async function enter(code: string, known: Session | null): Promise<void> {
  const why = await signIn({ code }, known);
  if (why !== undefined) entryFault.value = why === t.frame.unknownKey ? t.frame.linkUsed : why;
}

/** Follows one-time links that are opened while the console is. */
export const followEntryLinks = (): void =>
  addEventListener('hashchange', () => {
    const code = codeOfLink();
    if (code !== undefined) void enter(code, session.peek() ?? null);
  });

/** Why a one-time link did not open the console. */
export const entryFault = signal<string | undefined>(undefined);

/** Signs in, into the session that is open. Returns why not. */
export async function signIn(
  credential: { api_key: string } | { code: string } | { operator_token: string },
  known = session.peek(),
): Promise<string | undefined> {
  const answer = await fetch(PATH, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(known ? { 'x-console-token': known.csrf_token } : {}),
    },
    body: JSON.stringify({ session: credential }),
  }).catch(() => undefined);
  if (!answer) return t.frame.unreachable;
  if (answer.ok) {
    const entered = ((await answer.json()) as { session: Session }).session;
    session.value = entered;
    hasEnded.value = false;
    entryFault.value = undefined;
    const opened = answer.headers.get('x-console-organization');
    const added = entered.organizations.find(({ svc_id }) => svc_id === opened);
    const { slug } = route.value;
    // An address of the organization is kept, and of another one if nobody was signed in: it asks for its own key.
    if (added && slug !== added.slug && (known || slug === undefined))
      go(`/console/o/${encodeURIComponent(added.slug)}/home`);
    else if (entered.operator && entered.organizations.length === 0) go(OPERATIONS);
    return undefined;
  }
  if (answer.status === 429) {
    const minutes = Math.ceil(Number(answer.headers.get('retry-after') ?? 60) / 60);
    return t.frame.tooManyAttempts(minutes);
  }
  if (answer.status === 422) return t.frame.tooManyOrganizations;
  return t.frame.unknownKey;
}

export async function signOut(organizationId?: string): Promise<void> {
  const path = organizationId === undefined ? PATH : `${PATH}/organizations/${organizationId}`;
  await fetch(path, { method: 'DELETE', headers: { 'x-console-token': session.value?.csrf_token ?? '' } });
  session.value = null;
  if (organizationId !== undefined) await openSession();
  go('/console');
}
