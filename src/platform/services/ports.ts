import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range that systems give to outgoing connections, so that a remembered port is rarely taken later. */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;
const MAX_TRIES = 100;

/** The preferred port when it is free on `host`, else a random free one. */
export async function choosePort(preferred?: number, host = '127.0.0.1'): Promise<number> {
  if (preferred !== undefined && (await isPortFree(preferred, host))) return preferred;

  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isPortFree(port, host)) return port;
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} on ${host}`);
}

/** Whether a server could listen there now. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
