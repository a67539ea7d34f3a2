import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { createHttpServer } from '../../src/ingress/http-server.ts';

const app = express();
let seen: { request: object; response: object };
app.get('/', (req, res) => {
  seen = { request: Object.getPrototypeOf(req), response: Object.getPrototypeOf(res) };
  res.json({ ip: req.ip, path: req.path });
});

test('requests and responses are born with the prototypes that Express would give them', async () => {
  const server = createHttpServer(app);
  let born: { request: object; response: object } | undefined;
  server.prependListener('request', (req, res) => {
    born = { request: Object.getPrototypeOf(req), response: Object.getPrototypeOf(res) };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`).then((answer) => answer.body.dump());
  server.close();
  expect(born!.request).toBe(app.request);
  expect(born!.response).toBe(app.response);
  expect(seen.request).toBe(app.request);
  expect(seen.response).toBe(app.response);
});

test('the app answers the same on an ordinary server', async () => {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  expect(await answer.body.json()).toEqual({ ip: '127.0.0.1', path: '/' });
});
