import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut and mended, as when the server itself goes away. */
export interface Cuttable {
  /** The URL it was made for, by this way. */
  url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

export async function cuttable(to: string): Promise<Cuttable> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const way = createServer((from) => {
    const onward = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [from, onward],
      [onward, from],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  const listen = async (port: number) => {
    way.listen(port, '127.0.0.1');
    await once(way, 'listening');
  };
  const cut = async () => {
    const closed = way.listening ? once(way, 'close') : undefined;
    way.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = way.address() as AddressInfo;
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { url: url.href, cut, mend: () => listen(port), close: cut };
}
