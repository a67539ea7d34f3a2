import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express, { type Request, type Response } from 'express';
import { afterAll, expect, test } from 'vitest';
import { emptyApp } from '../../src/ingress/app.ts';
import { directly } from '../../src/ingress/direct-routes.ts';
import { createHttpServer } from '../../src/ingress/http-server.ts';

const PATH = '/api/things';
/** Requests that were answered without the app's routers. */
let direct = 0;

async function answer(request: Request, response: Response): Promise<void> {
  if (request.route === undefined) direct += 1;
  if (request.originalUrl.includes('broken')) throw new Error('broken');
  const { originalUrl, params, ip, method } = request;
  response.json({ originalUrl, params, ip, method, locals: response.locals });
}

async function fails(error: unknown, request: Request, response: Response): Promise<void> {
  if (request.originalUrl.includes('twice')) throw error;
  response.status(500).json({ failed: (error as Error).message });
}

const app = emptyApp({ TRUST_PROXY_HOPS: 0 });
const room = express.Router({ caseSensitive: true });
app.use(PATH, room);
room.post('/', answer);
room.get('/', answer);
room.get('/:id', answer);
app.use((_request, response) => void response.status(404).json({ found: false }));
app.use((error: unknown, request: Request, response: Response, _next: express.NextFunction) =>
  fails(error, request, response),
);
const listener = directly(
  app,
  [
    { method: 'POST', path: PATH, answer },
    { method: 'GET', path: PATH, answer },
    { method: 'GET', path: PATH, answer: () => Promise.reject(new Error('the second of two')) },
  ],
  fails,
);

const servers: Server[] = [];
async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
afterAll(() => {
  for (const server of servers) server.close();
});

/** What came on a connection of its own; the request line as it is, which fetch would tidy up. */
function raw(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    });
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('close', () => resolve(text.replace(/^(Date|ETag): .*\r\n/gim, '')));
    socket.on('error', reject);
  });
}

test.each([
  // request                            direct?
  ['POST /api/things', true],
  ['GET /api/things', true],
  ['POST /api/things?a=1&b[]=%20', true],
  ['POST /api/things?', true],
  ['POST /api/things?broken', true],
  ['POST /api/things/', false],
  ['POST /api/thing%73', false],
  ['POST http://x/api/things', false],
  ['POST //api/things', false],
  ['POST /API/things', false],
  ['PUT /api/things', false],
  ['HEAD /api/things', false],
  ['OPTIONS /api/things', false],
  ['GET /api/things/1', false],
  ['GET /api', false],
  ['GET /api/things/%E0%A4%A', false],
] as const)('%s has the answer of the app, without its routers: %s', async (line, isDirect) => {
  const alone = await listening(createServer(app));
  const tabled = await listening(createHttpServer(app, listener));
  const expected = await raw(alone, line);
  direct = 0;
  expect(await raw(tabled, line)).toBe(expected);
  expect(direct).toBe(isDirect ? 1 : 0);
});

test('an error that cannot be answered ends its connection, and no other', async () => {
  const port = await listening(createHttpServer(app, listener));
  expect(await raw(port, 'POST /api/things?broken=twice')).toBe('');
  expect(await raw(port, 'POST /api/things')).toMatch(/^HTTP\/1\.1 200/);
});
