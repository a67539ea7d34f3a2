import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { choosePort, isPortFree } from '../../../src/platform/services/ports.ts';

test('the wished port is kept when it is free and replaced when it is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const taken = (server.address() as AddressInfo).port;
  expect(await isPortFree(taken)).toBe(false);
  expect(await choosePort(taken)).not.toBe(taken);

  const free = await choosePort();
  expect(await choosePort(free)).toBe(free);
});

test('chosen ports are below the range of outgoing connections', async () => {
  const port = await choosePort();
  expect(port).toBeGreaterThanOrEqual(20_000);
  expect(port).toBeLessThan(30_000);
});
