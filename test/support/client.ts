import { request } from 'undici';
import { logExchange } from './exchange-log.ts';

export interface ClientAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
  text: string;
  headers: Record<string, string | string[] | undefined>;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Body as it goes out, instead of JSON. */
  raw?: string | Buffer;
  /** The rule by which this request, or its answer, goes beyond the contract: it stays out of the log of the run. */
  beyondContract?: string;
}

export interface Client {
  get(path: string, options?: RequestOptions): Promise<ClientAnswer>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<ClientAnswer>;
  put(path: string, body?: unknown, options?: RequestOptions): Promise<ClientAnswer>;
  patch(path: string, body?: unknown, options?: RequestOptions): Promise<ClientAnswer>;
  delete(path: string, body?: unknown, options?: RequestOptions): Promise<ClientAnswer>;
}

/**
 * Speaks to a started service as any client would; paths are below the base URL. `isLogged`: its exchanges are noted
 * for the reader of the contract.
 */
export function createClient(url: string, apiKey: string | null, isLogged = false): Client {
  const call =
    (method: string) =>
    async (path: string, body?: unknown, options: RequestOptions = {}) => {
      const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await request(`${url}/api/v1${path}`, {
        method: method as 'GET',
        headers: {
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(payload === undefined ? {} : { body: payload }),
      });
      const text = await response.body.text();
      const json = parsed(text);
      if (isLogged)
        logExchange(
          () => ({
            method,
            path,
            status: response.statusCode,
            requestBody: options.raw === undefined ? (body ?? null) : (parsed(options.raw) ?? options.raw.toString()),
            responseBody: json ?? text,
            headers: response.headers,
          }),
          options.beyondContract,
        );
      return { status: response.statusCode, body: json as never, text, headers: response.headers };
    };
  return {
    get: (path, options) => call('GET')(path, undefined, options),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
  };
}

/** Null where it is no JSON. */
function parsed(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return null;
  }
}
