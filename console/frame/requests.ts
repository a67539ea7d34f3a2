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
  const others = requestsOfPage.peek().filter(({ method, path }) => method !== request.method || path !== request.path);
  const known = others.length < requestsOfPage.peek().length;
  if (known && request.body === undefined) return;
  requestsOfPage.value = [...others, request];
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
