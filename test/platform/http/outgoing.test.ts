import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { RefusedAddress, type Resolve, type Target, targetOf } from '../../../src/platform/http/addresses.ts';
import { createOutgoing, describeTrouble, type Outgoing } from '../../../src/platform/http/outgoing.ts';
import { until } from '../../support/until.ts';

/** A busy machine is no reason to give up. */
const PATIENT_MS = 30_000;

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function receiver(listener: RequestListener): Promise<{ server: Server; target: Target; port: number }> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  opened.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, target: targetOf(`http://127.0.0.1:${port}/hook`, { allowPrivate: true }) };
}

function outgoing(options: { allowPrivate: boolean; resolve?: Resolve } = { allowPrivate: true }): Outgoing {
  const made = createOutgoing(options);
  opened.push(made);
  return made;
}

test('an outgoing request sends its body unchanged and returns status, text and Retry-After', async () => {
  const { target } = await receiver((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () =>
      response.writeHead(429, { 'Retry-After': '7' }).end(`${request.method} ${request.url} ${body}`),
    );
  });
  const answer = await outgoing().post(target, { 'Content-Type': 'application/json' }, '{"ä":1}', PATIENT_MS);
  expect(answer).toEqual({ status: 429, retryAfterMs: 7000, text: 'POST /hook {"ä":1}' });
});

test('outgoing requests do not follow redirects', async () => {
  let calls = 0;
  const { target } = await receiver((_request, response) => {
    calls += 1;
    response.writeHead(302, { Location: '/elsewhere' }).end();
  });
  expect((await outgoing().post(target, {}, '{}', PATIENT_MS)).status).toBe(302);
  expect(calls).toBe(1);
});

test('8 KiB of an endless answer are kept and the rest is dropped', async () => {
  let closed = false;
  const { target } = await receiver((request, response) => {
    request.socket.on('close', () => {
      closed = true;
    });
    const more = () => {
      while (!closed && response.write('x'.repeat(4096)));
      if (!closed) response.once('drain', more);
    };
    more();
  });
  const answer = await outgoing().post(target, {}, '{}', PATIENT_MS);
  expect(answer).toMatchObject({ status: 200, text: 'x'.repeat(8192) });
  await until(() => closed);
});

test('an outgoing request to a silent receiver ends at its timeout', async () => {
  const { target } = await receiver(() => {});
  await expect(outgoing().post(target, {}, '{}', 200)).rejects.toThrow('no answer within 0.2 s');
});

test('the status of an answer whose body never ends counts', async () => {
  const { target } = await receiver((_request, response) => {
    response.writeHead(200);
    response.write('half');
  });
  expect(await outgoing().post(target, {}, '{}', 200)).toMatchObject({ status: 200, text: 'half' });
});

test('null bytes and broken text of an answer are made storable', async () => {
  const { target } = await receiver((_request, response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0x62])));
  expect((await outgoing().post(target, {}, '{}', PATIENT_MS)).text).toBe('a\ufffdb');
});

test('an outgoing request never connects to a name with a private address', async () => {
  let calls = 0;
  const { port } = await receiver((_request, response) => {
    calls += 1;
    response.end();
  });
  const resolve: Resolve = (_hostname, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const target = targetOf(`http://hooks.example:${port}/`, { allowPrivate: false });
  const trouble = await outgoing({ allowPrivate: false, resolve })
    .post(target, {}, '{}', PATIENT_MS)
    .catch((error) => error);
  expect(trouble).toBeInstanceOf(RefusedAddress);
  expect(describeTrouble(trouble)).toBe('refused: hooks.example has the address 127.0.0.1');
  expect(calls).toBe(0);
});

test('a closed port and a broken answer are reported with an explaining line', async () => {
  const { server, target } = await receiver((request) => request.socket.destroy());
  const http = outgoing();
  expect(describeTrouble(await http.post(target, {}, '{}', PATIENT_MS).catch((error) => error))).toMatch(
    /socket|closed|hang up/i,
  );
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  expect(describeTrouble(await http.post(target, {}, '{}', PATIENT_MS).catch((error) => error))).toMatch(
    /ECONNREFUSED/,
  );
});

test('outgoing connections are reused between requests', async () => {
  const ports = new Set<number | undefined>();
  const { target } = await receiver((request, response) => {
    ports.add(request.socket.remotePort);
    request.resume().on('end', () => response.end('ok'));
  });
  const http = outgoing();
  for (let i = 0; i < 5; i += 1) await http.post(target, {}, '{}', PATIENT_MS);
  // A second one may open while the first is still being handed back.
  expect(ports.size).toBeLessThanOrEqual(2);
});

test('an answer carries the pause that its receiver asks for', async () => {
  const { target } = await receiver((_request, response) => response.writeHead(503, { 'Retry-After': '120' }).end());
  expect((await outgoing().post(target, {}, '{}', PATIENT_MS)).retryAfterMs).toBe(120_000);
});
