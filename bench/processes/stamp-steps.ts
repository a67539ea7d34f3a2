import { channel } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

/**
 * Loaded into a process under test before its program: notes at which instant it takes and answers requests, and each
 * write to and each answer from Postgres and Redis. All processes of a machine read the same clock.
 */

/** What happened, and when: nanoseconds of the machine's monotonic clock. */
export interface Stamp {
  at: number;
  what: 'request' | 'answer' | 'postgres sent' | 'postgres came' | 'redis sent' | 'redis came';
  /** Of what was sent to Redis: its beginning, in which the command and its keys stand. */
  text?: string;
}

/** So much of a command is kept: the commands of BullMQ are scripts, which only their keys tell apart. */
const KEPT_CHARACTERS = 600;

let stamps: Stamp[] = [];
const portOf = (name: string): number => Number(new URL(process.env[name] ?? 'none://localhost:0').port);
const postgresPort = portOf('DATABASE_URL');
const redisPort = portOf('REDIS_URL');
const stamp = (what: Stamp['what'], text?: string): void => {
  stamps.push({ at: Number(process.hrtime.bigint()), what, ...(text === undefined ? {} : { text }) });
};

const { write, push } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...given: unknown[]): boolean {
  if (this.remotePort === postgresPort) stamp('postgres sent');
  else if (this.remotePort === redisPort) stamp('redis sent', String(given[0]).slice(0, KEPT_CHARACTERS));
  return Reflect.apply(write, this, given) as boolean;
} as typeof write;
Socket.prototype.push = function (this: Socket, ...given: unknown[]): boolean {
  if (this.remotePort === postgresPort) stamp('postgres came');
  else if (this.remotePort === redisPort) stamp('redis came');
  return Reflect.apply(push, this, given) as boolean;
} as typeof push;
channel('http.server.request.start').subscribe(() => stamp('request'));
channel('http.server.response.finish').subscribe(() => stamp('answer'));

process.on('message', (message) => {
  if (message !== 'stamps') return;
  process.send?.({ stamps });
  stamps = [];
});
process.channel?.unref();
