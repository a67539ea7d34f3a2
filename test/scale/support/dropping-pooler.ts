import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Length and protocol version of a start-up message. */
const HEAD_BYTES = 8;
const KEPT = new Set(['user', 'database']);

/**
 * A stand-in of a pooler that drops every start-up parameter, also the time zone, which PgBouncer hands on.
 *
 * @returns the address of a Postgres behind it, and how it stops
 */
export async function startDroppingPooler(url: string): Promise<{ url: string; stop(): void }> {
  const target = new URL(url);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const onward = connect(Number(target.port), target.hostname);
    for (const socket of [client, onward]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => client.destroy() && onward.destroy());
    }
    client.once('data', (start) => {
      onward.write(withoutParameters(start));
      client.pipe(onward).pipe(client);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    stop() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function withoutParameters(start: Buffer): Buffer {
  const texts = start.subarray(HEAD_BYTES).toString().split('\0');
  let kept = '';
  for (let place = 0; place + 1 < texts.length; place += 2)
    if (KEPT.has(texts[place]!)) kept += `${texts[place]}\0${texts[place + 1]}\0`;
  const body = Buffer.from(`${kept}\0`);
  const head = Buffer.from(start.subarray(0, HEAD_BYTES));
  head.writeUInt32BE(HEAD_BYTES + body.length);
  return Buffer.concat([head, body]);
}
