import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { createHttpServer, stopListening } from '../../src/ingress/http-server.ts';

const app = express();
let seen: { request: object; response: object };
app.get('/', (req, res) => {
  seen = { request: Object.getPrototypeOf(req), response: Object.getPrototypeOf(res) };
  res.json({ ip: req.ip, path: req.path });
});

test('requests and responses are created with the prototypes that Express would give them', async () => {
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

test('the app answers the same on an ordinary HTTP server', async () => {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  expect(await answer.body.json()).toEqual({ ip: '127.0.0.1', path: '/' });
});

/** A connection that is kept, and what has come on it. */
async function connection(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket, 'close').then(() => 'closed');
  return {
    closed,
    async ask(): Promise<string> {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      const [chunk] = await once(socket, 'data');
      return String(chunk);
    },
  };
}

test('a stopping server answers a request on a kept connection, announces its end and closes silent ones', async () => {
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const busy = await connection(port);
  const silent = await connection(port);
  expect(await busy.ask()).toMatch(/^HTTP\/1\.1 200[\s\S]*Connection: keep-alive/);
  expect(await silent.ask()).toMatch(/^HTTP\/1\.1 200/);

  const stopped = stopListening(server);
  expect(await busy.ask()).toMatch(/^HTTP\/1\.1 200[\s\S]*Connection: close/);
  expect(await busy.closed).toBe('closed');
  expect(await silent.closed).toBe('closed');
  await stopped;
  await expect(connection(port)).rejects.toThrow('ECONNREFUSED');
});

test('a request that arrived before silent connections are closed is answered', async () => {
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const late = await connection((server.address() as AddressInfo).port);
  await late.ask();
  const stopped = stopListening(server);
  const answer = late.ask();
  // The process is so busy that the request waits beside the timer that closes what is silent.
  const until = performance.now() + 1000;
  while (performance.now() < until);
  expect(await answer).toMatch(/^HTTP\/1\.1 200[\s\S]*Connection: close/);
  expect(await late.closed).toBe('closed');
  await stopped;
});

test('a connection on which nothing was ever sent does not hold up a server that stops', async () => {
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const unused = await connection((server.address() as AddressInfo).port);
  const late = await connection((server.address() as AddressInfo).port);
  const stopped = stopListening(server);
  // The first request of a connection may be on its way as well.
  expect(await late.ask()).toMatch(/^HTTP\/1\.1 200[\s\S]*Connection: close/);
  expect(await unused.closed).toBe('closed');
  await stopped;
}, 20_000);
