import { Socket } from 'node:net';

/**
 * Loaded into a process under test before its program: counts what it writes to Postgres and Redis and answers the
 * harness with the counts. A write to Postgres is a round trip, since the driver sends what is ready at once and waits;
 * statements are the Execute and Query messages in it.
 */

/** What a process has sent since its start. */
export interface Counts {
  statements: number;
  roundTrips: number;
  redisWrites: number;
}

const EXECUTE = 'E'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);
/** A message: its type, four bytes of length that count themselves, what it says. */
const TYPE_BYTES = 1;
const LEAST_MESSAGE = 5;

const counts: Counts = { statements: 0, roundTrips: 0, redisWrites: 0 };
const portOf = (name: string): number => Number(new URL(process.env[name] ?? 'none://localhost:0').port);
const postgresPort = portOf('DATABASE_URL');
const redisPort = portOf('REDIS_URL');

const write = Socket.prototype.write;
Socket.prototype.write = function (this: Socket, ...given: unknown[]): boolean {
  if (this.remotePort === postgresPort) countMessages(given[0]);
  else if (this.remotePort === redisPort) counts.redisWrites += 1;
  return Reflect.apply(write, this, given) as boolean;
} as typeof write;

function countMessages(sent: unknown): void {
  if (!Buffer.isBuffer(sent)) return;
  counts.roundTrips += 1;
  for (let at = 0; at + LEAST_MESSAGE <= sent.length; at += TYPE_BYTES + sent.readUInt32BE(at + TYPE_BYTES)) {
    const type = sent[at];
    // The first message of a connection has no type, and a length would be read in the wrong place.
    if (type === 0) return;
    if (type === EXECUTE || type === QUERY) counts.statements += 1;
  }
}

process.on('message', (message) => {
  if (message === 'counts') process.send?.({ counts });
});
// The harness may ask as long as the program runs; that it may keeps nothing alive.
process.channel?.unref();
