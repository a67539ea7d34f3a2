import { connect } from 'node:net';

const ANSWER_WITHIN_MS = 2_000;

/**
 * Pid of the Redis that answers on the port with this password; undefined if none does or it is still loading. It uses
 * a plain socket, because the client library would cost the launcher 20 MB for these three commands.
 */
export function redisPidAt(port: number, password: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    let answers = '';
    const socket = connect({ port, host: '127.0.0.1', timeout: ANSWER_WITHIN_MS });
    socket.on('data', (chunk) => {
      answers += chunk;
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => undefined); // "close" follows
    socket.on('close', () => {
      // DBSIZE is refused while the data is being loaded, and both are without the password.
      const pid = /^\+OK\r\n:\d+\r\n[\s\S]*process_id:(\d+)/.exec(answers)?.[1];
      resolve(pid === undefined ? undefined : Number(pid));
    });
    socket.write(`AUTH ${password}\r\nDBSIZE\r\nINFO server\r\nQUIT\r\n`);
  });
}
