import { Client } from 'lago-javascript-client';
import { logExchange } from '../../support/exchange-log.ts';

export type Api = ReturnType<typeof Client>;
type Method = (...args: unknown[]) => Promise<{ data: unknown }>;

/** The published client on a started service, and which of its methods were called with success. */
export interface PublishedClient {
  api: Api;
  /** Every method that the client has, `group.method`. */
  methods: string[];
  called: Set<string>;
}

/** The client as its users make it; its requests go under the prefix that it was published for. */
export function openPublishedClient(url: string, apiKey: string): PublishedClient {
  const api = Client(apiKey, { baseUrl: `${url}/api/v1`, customFetch: loggedFetch });
  const called = new Set<string>();
  const groups = Object.entries(api).filter(([name, group]) => name !== 'contentFormatters' && isGroup(group)) as [
    string,
    Record<string, Method>,
  ][];
  for (const [name, group] of groups)
    for (const [method, run] of Object.entries(group))
      group[method] = async (...args) => {
        const answer = await run(...args).catch((failure: unknown) =>
          Promise.reject(told(`${name}.${method}`, failure)),
        );
        called.add(`${name}.${method}`);
        return answer;
      };
  return {
    api,
    methods: groups.flatMap(([name, group]) => Object.keys(group).map((method) => `${name}.${method}`)),
    called,
  };
}

const isGroup = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some((each) => typeof each === 'function');

/** The client throws the answer itself; a test wants to read what it says. */
function told(method: string, failure: unknown): Error {
  const { status, error } = failure as { status?: number; error?: unknown };
  return failure instanceof Error ? failure : new Error(`${method}: ${status} ${JSON.stringify(error)}`);
}

const loggedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const text = await response.clone().text();
  logExchange(() => ({
    method: init?.method ?? 'GET',
    path: String(input),
    status: response.status,
    requestBody: bodyOf(typeof init?.body === 'string' ? init.body : ''),
    responseBody: bodyOf(text),
    headers: Object.fromEntries(response.headers),
  }));
  return response;
};

/** The forms of the contract, for what this client reads in others (everywhere.md#dialects). */
function contractForm(key: string, value: unknown): unknown {
  if (key === 'percentage_rate' && typeof value === 'string') return Number(value);
  return key === 'request_body' || key === 'request_response' ? JSON.stringify(value) : value;
}

/** A body under the prefix of the contract. */
function bodyOf(text: string): unknown {
  const renamed = text.replaceAll('lago_', 'svc_').replaceAll('execute_in_lago', 'execute_in_svc');
  try {
    return renamed === '' ? null : JSON.parse(renamed, contractForm);
  } catch {
    return renamed;
  }
}
