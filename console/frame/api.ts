import { signal } from '@preact/signals';
import { noteRequest } from './requests.ts';
import { hasEnded, organization, session } from './session.ts';

/** An answer that is no success, or no answer at all (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Codes by field of a refused body. */
  readonly details: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>, requestId: string | undefined) {
    super(typeof body.error === 'string' ? body.error : 'The service did not answer.');
    this.status = status;
    this.code = typeof body.code === 'string' ? body.code : undefined;
    this.requestId = requestId;
    this.details = (body.error_details ?? {}) as Record<string, unknown>;
  }
}

export const isOffline = signal(false);
if (typeof document !== 'undefined') {
  addEventListener('online', () => {
    isOffline.value = false;
  });
  addEventListener('offline', () => {
    isOffline.value = true;
  });
}

const READS_REPEATED = 3;
const PENDING_MOST_MS = 60_000;

/** Sends a read, again while the limit of the session is over. `organizationId`: 'operator' for the operator's routes. */
export async function read<Answer>(path: string, organizationId = organization.peek()?.svc_id ?? ''): Promise<Answer> {
  for (let count = 0; ; count += 1) {
    const answer = await exchange('GET', path, { organizationId });
    if (answer.status === 429 && count < READS_REPEATED) {
      await pause(1000 * Number(answer.headers.get('x-ratelimit-reset') ?? 1));
      continue;
    }
    return bodyOf<Answer>(answer);
  }
}

/** Reads the answer of a path in another form than JSON, such as `text/csv`. */
export async function readFile(path: string, accept: string): Promise<Blob> {
  const answer = await exchange('GET', path, { organizationId: organization.peek()?.svc_id ?? '', accept });
  return answer.ok ? answer.blob() : bodyOf(answer);
}

/** Asks what is sent as a POST and changes nothing: estimates, previews, checks. */
export async function ask<Answer>(path: string, body: unknown): Promise<Answer> {
  const organizationId = organization.peek()?.svc_id ?? '';
  noteRequest({ method: 'POST', path, body });
  return bodyOf<Answer>(await exchange('POST', path, { organizationId, body }));
}

/** A key for a form, so that a double click or a second attempt is one write. */
export const newKey = (): string => crypto.randomUUID();

/** Sends a write; one that is pending is asked for with the same key until its answer is there. */
export async function write<Answer>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  key: string = newKey(),
): Promise<Answer> {
  const organizationId = organization.peek()?.svc_id ?? '';
  const until = Date.now() + PENDING_MOST_MS;
  for (;;) {
    const answer = await exchange(method, path, { organizationId, body, key });
    if (answer.status === 504 && Date.now() < until) {
      await pause(1000);
      continue;
    }
    return bodyOf<Answer>(answer);
  }
}

async function exchange(
  method: string,
  path: string,
  { organizationId, body, key, accept }: { organizationId: string; body?: unknown; key?: string; accept?: string },
): Promise<Response> {
  if (method === 'GET') noteRequest({ method, path });
  const asked = session.peek();
  const answer = await fetch(`/api/v1${path}`, {
    method,
    headers: {
      'x-console-token': asked?.csrf_token ?? '',
      'x-console-organization': organizationId,
      ...(accept === undefined ? {} : { accept }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => undefined);
  if (!answer) throw new ApiError(0, {}, undefined);
  // Of a session that somebody has signed in to meanwhile it says nothing.
  if (answer.status === 401 && session.peek() === asked) hasEnded.value = true;
  return answer;
}

async function bodyOf<Answer>(answer: Response): Promise<Answer> {
  const text = await answer.text();
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  if (answer.ok) return body as Answer;
  throw new ApiError(answer.status, body, answer.headers.get('x-request-id') ?? undefined);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
