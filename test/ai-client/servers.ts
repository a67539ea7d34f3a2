import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalServer {
  url: string;
  close(): Promise<void>;
}

type Handler = (sent: string, request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function listening(handler: Handler): Promise<LocalServer> {
  const server: Server = createServer(async (request, response) => {
    let sent = '';
    for await (const chunk of request) sent += chunk;
    await handler(sent, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CHAT = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'alpha' };
const CHAT_USAGE = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'alpha',
  status: 'completed',
  output: [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hello', annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 12000,
    input_tokens_details: { cached_tokens: 8000 },
    output_tokens: 981,
    output_tokens_details: { reasoning_tokens: 320 },
    total_tokens: 12981,
  },
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'beta',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 25, cache_read_input_tokens: 900, cache_creation_input_tokens: 0, output_tokens: 310 },
};

const delta = (fields: object) => ({ ...CHAT, object: 'chat.completion.chunk', usage: null, ...fields });
const choice = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason }],
});
const chunks = (withUsage: boolean) => [
  delta(choice('hel')),
  delta(choice('lo', 'stop')),
  ...(withUsage ? [delta({ choices: [], usage: CHAT_USAGE })] : []),
];
const messageEvents = [
  { type: 'message_start', message: { ...MESSAGE, content: [], usage: { ...MESSAGE.usage, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 310 } },
  { type: 'message_stop' },
];

/** Providers of models: plain answers and streams, as their public documentation shows them. */
export function startProviders(): Promise<LocalServer & { asked: Record<string, unknown>[] }> {
  const asked: Record<string, unknown>[] = [];
  const started = listening((sent, { url = '' }, response) => {
    const body = JSON.parse(sent);
    asked.push(body);
    const json = (answer: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    };
    const events = (lines: string[], breaks = false) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(lines.map((line) => `${line}\n\n`).join(''));
      if (breaks) setTimeout(() => response.destroy(), 50);
      else response.end();
    };
    if (body.model === 'wrong') return json({ error: { message: 'no such model', type: 'invalid_request' } }, 400);
    if (url.endsWith('/embeddings'))
      return json({ object: 'list', model: 'alpha', data: [], usage: { prompt_tokens: 8, total_tokens: 8 } });
    if (url.endsWith('/responses')) {
      if (!body.stream) return json(RESPONSE);
      return events([
        `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: RESPONSE })}`,
      ]);
    }
    if (url.endsWith('/messages')) {
      if (!body.stream) return json(MESSAGE);
      const breaks = body.model === 'breaking';
      const shown = messageEvents.slice(0, breaks ? 3 : undefined);
      return events(
        shown.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`),
        breaks,
      );
    }
    if (!body.stream)
      return json({
        ...CHAT,
        choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
        usage: CHAT_USAGE,
      });
    const sentChunks = chunks(body.stream_options?.include_usage === true).map(
      (each) => `data: ${JSON.stringify(each)}`,
    );
    if (body.model === 'breaking') return events(sentChunks.slice(0, 1), true);
    return events([...sentChunks, 'data: [DONE]']);
  });
  return started.then((server) => ({ ...server, asked }));
}

export interface Receiver extends LocalServer {
  /** Usage that was stored, by transaction id. */
  stored: Map<string, Record<string, unknown>>;
  /** Paths of all requests. */
  paths: string[];
  /** Answers instead of storing; undefined stores. `page`: the text of another server between, instead of a body. */
  failing:
    | ((path: string, sent: string) => { status: number; body?: unknown; page?: string; headers?: object } | undefined)
    | undefined;
}

/** The service, as far as a client knows it: stores usage once by its id. */
export async function startReceiver(): Promise<Receiver> {
  const receiver: Omit<Receiver, keyof LocalServer> = { stored: new Map(), paths: [], failing: undefined };
  const server = await listening((sent, { url: path = '' }, response) => {
    receiver.paths.push(path);
    const json = (status: number, body: unknown, headers: object = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    const failed = receiver.failing?.(path, sent);
    if (failed?.page !== undefined) {
      response.writeHead(failed.status, { 'content-type': 'text/html' }).end(failed.page);
      return;
    }
    if (failed) return json(failed.status, failed.body ?? {}, failed.headers);
    const { ai_usages: usages = [] } = JSON.parse(sent);
    const results = usages.map((usage: Record<string, unknown>, index: number) => {
      const { body } = usage as { body: { id?: string } };
      const id = String(usage.transaction_id ?? body.id ?? JSON.stringify(body));
      const status = receiver.stored.has(id) ? 'replayed' : 'stored';
      receiver.stored.set(id, usage);
      return { index, transaction_id: id, status };
    });
    json(200, { results });
  });
  return Object.assign(receiver, server);
}
