import { Pool } from 'undici';
import { BASE_PATH } from '../../src/ingress/answer-request.ts';

export interface Answer {
  status: number;
  replayed: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  body: any;
}

/** Speaks to the service like any client; paths are below the base URL. */
export interface ApiClient {
  post(path: string, body: object | string): Promise<Answer>;
  /** As `post`, but any status other than 200 is an error. */
  make(path: string, body: object): Promise<Answer['body']>;
  close(): Promise<void>;
}

const CONNECTIONS = 20;

export function openClient(url: string, apiKey: string): ApiClient {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object | string): Promise<Answer> => {
    const answer = await pool.request({
      method: 'POST',
      path: `${BASE_PATH}${path}`,
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      replayed: answer.headers['x-svc-replayed'] === 'true',
      body: text === '' ? null : JSON.parse(text),
    };
  };
  return {
    post,
    async make(path, body) {
      const answer = await post(path, body);
      if (answer.status !== 200)
        throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    close: () => pool.close(),
  };
}
