import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, read } from './api.ts';
import { noteRequest } from './requests.ts';
import { hasEnded, organization } from './session.ts';

export interface Reading<Answer> {
  data: Answer | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
}

interface Entry {
  state: Signal<Reading<unknown>>;
  readAtMs: number;
  pending: Promise<void> | undefined;
  users: number;
}

/** Answers by organization and path; a page that opens again shows the former answer until the new one is there. */
const entries = new Map<string, Entry>();
const MOST_ENTRIES = 300;
/** An answer younger than this is not asked for again when another part of the page wants it. */
const FRESH_MS = 3000;

function entryOf(key: string): Entry {
  let entry = entries.get(key);
  if (!entry) {
    const state = signal<Reading<unknown>>({ data: undefined, error: undefined, isLoading: true });
    entry = { state, readAtMs: 0, pending: undefined, users: 0 };
    entries.set(key, entry);
    for (const [name, { users }] of entries) {
      if (entries.size <= MOST_ENTRIES) break;
      if (users === 0) entries.delete(name);
    }
  }
  return entry;
}

function refresh(organizationId: string, path: string): Promise<void> {
  const entry = entryOf(`${organizationId} ${path}`);
  entry.pending ??= (async () => {
    try {
      const data = await read<unknown>(path, organizationId);
      entry.state.value = { data, error: undefined, isLoading: false };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      entry.state.value = { data: entry.state.peek().data, error, isLoading: false };
    } finally {
      entry.readAtMs = Date.now();
      entry.pending = undefined;
    }
  })();
  return entry.pending;
}

/**
 * An answer of the API, kept up to date while the page is open: read again when the window gets the focus, after each
 * write, and every `everySeconds` while it is visible. A path of null reads nothing.
 */
export function useRead<Answer>(
  path: string | null,
  { everySeconds, asOperator = false }: { everySeconds?: number | undefined; asOperator?: boolean } = {},
): Reading<Answer> & { again: () => void } {
  const organizationId = asOperator ? 'operator' : (organization.value?.svc_id ?? '');
  const key = `${organizationId} ${path}`;
  const entry = path === null ? undefined : entryOf(key);
  useEffect(() => {
    if (path === null || organizationId === '') return;
    const used = entryOf(key);
    used.users += 1;
    noteRequest({ method: 'GET', path });
    if (Date.now() - used.readAtMs > FRESH_MS) void refresh(organizationId, path);
    const lookAgain = () => {
      if (document.visibilityState === 'visible' && !hasEnded.peek() && Date.now() - used.readAtMs > FRESH_MS)
        void refresh(organizationId, path);
    };
    addEventListener('focus', lookAgain);
    addEventListener('online', lookAgain);
    const timer = everySeconds === undefined ? undefined : setInterval(lookAgain, everySeconds * 1000);
    return () => {
      used.users -= 1;
      removeEventListener('focus', lookAgain);
      removeEventListener('online', lookAgain);
      clearInterval(timer);
    };
  }, [key, everySeconds]);
  const state = (entry?.state.value ?? { data: undefined, error: undefined, isLoading: false }) as Reading<Answer>;
  return { ...state, again: () => path !== null && void refresh(organizationId, path) };
}

/** After a write: what is shown is read again, and what was kept of the organization is forgotten. */
export async function readAllAgain(): Promise<void> {
  const organizationId = organization.peek()?.svc_id ?? '';
  const readings: Promise<void>[] = [];
  for (const [key, entry] of entries) {
    if (!key.startsWith(`${organizationId} `)) continue;
    if (entry.users === 0) entries.delete(key);
    else readings.push(refresh(organizationId, key.slice(organizationId.length + 1)));
  }
  await Promise.all(readings);
}
