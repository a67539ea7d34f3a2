import { signal } from '@preact/signals';

/** A request of the API as the console sent it. */
export interface ApiRequest {
  method: string;
  /** Below the base URL, with its query. */
  path: string;
  body?: unknown;
}

/** What made the page that is open. */
export const requestsOfPage = signal<readonly ApiRequest[]>([]);

export function noteRequest(request: ApiRequest): void {
  const known = requestsOfPage.peek();
  if (known.some(({ method, path }) => method === request.method && path === request.path)) return;
  requestsOfPage.value = [...known, request];
}

export const forgetRequests = (): void => {
  requestsOfPage.value = [];
};

/**
 * The line that repeats a request in a shell; `$KEY` stands for the key.
 * Rule: console.md#curl-lines.
 */
export function curlOf({ method, path, body }: ApiRequest, root: string): string {
  const parts = ['curl -sS', ...(method === 'GET' ? [] : [`-X ${method}`]), quoted(`${root}/api/v1${path}`)];
  parts.push('-H "Authorization: Bearer $KEY"');
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(' ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
