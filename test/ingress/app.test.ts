import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/ingress/app.ts';
import type { EdgeDeps } from '../../src/ingress/edge-deps.ts';
import { createHttpServer } from '../../src/ingress/http-server.ts';
import { createWire } from '../../src/ingress/translate-prefix.ts';
import { createLog } from '../../src/platform/log/log.ts';

const failure = (status: number) => Object.assign(new Error('broken'), { status });

let server: Server;
let url: string;
beforeAll(async () => {
  const deps = {
    config: { TRUST_PROXY_HOPS: 0 },
    log: createLog({ level: 'silent', process: 'test' }),
    wire: createWire('svc'),
  } as EdgeDeps;
  const { app, listener } = createApp(deps, [], {
    mount(root) {
      root.get('/refuses', () => Promise.reject(failure(400)));
      root.get('/breaks', () => Promise.reject(failure(500)));
    },
  });
  server = createHttpServer(app, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

test.each([
  ['/refuses', 400, 'Bad Request'],
  ['/breaks', 500, 'Internal Server Error'],
])('a console page whose request fails at %s answers with its own status %i', async (path, status, error) => {
  const response = await fetch(url + path);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ status, error });
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});
