import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Refusal, refuse } from '../../platform/refusal.ts';

/** Limits of a bulk body (bulk-events.md#bulk). */
const MOST_BULK_PACKED = 8 * 1024 * 1024;
const MOST_RATIO = 100;

/** The client disconnected in the middle of its body, so there is nothing to answer. */
export class ConnectionLost extends Error {}

/**
 * The bytes of a request's body as they arrive, unpacked; the sender is slowed down while they are not read. The
 * request stays open in any case, so that it can be answered.
 *
 * @throws Refusal 415 of an unknown encoding, 413 beyond a limit, 400 of broken compression; ConnectionLost
 */
export function unpackedBody(
  request: IncomingMessage,
  mostBytes: number,
  mostPacked = MOST_BULK_PACKED,
): AsyncIterable<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isPacked = encoding === 'gzip';
  if (!isPacked && encoding !== 'identity') throw refuse.unsupportedMediaType();
  const most = isPacked ? mostPacked : mostBytes;
  if (Number(request.headers['content-length'] ?? 0) > most) throw refuse.tooLarge();
  const received = { bytes: 0 };
  const body = limited(received, request, most);
  return isPacked ? unzipped(body, received, mostBytes) : body;
}

async function* limited(received: { bytes: number }, request: IncomingMessage, most: number): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      received.bytes += (chunk as Buffer).length;
      if (received.bytes > most) throw refuse.tooLarge();
      yield chunk as Buffer;
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new ConnectionLost('the body ended early', { cause: error });
  }
}

async function* unzipped(
  packed: AsyncIterable<Buffer>,
  received: { bytes: number },
  mostBytes: number,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  pipeline(packed, gunzip, () => {}); // its error is thrown by the loop
  let bytes = 0;
  try {
    for await (const chunk of gunzip) {
      bytes += (chunk as Buffer).length;
      if (bytes > mostBytes || bytes > received.bytes * MOST_RATIO) throw refuse.tooLarge();
      yield chunk as Buffer;
    }
  } catch (error) {
    if (error instanceof Refusal || error instanceof ConnectionLost) throw error;
    throw refuse.badRequest('invalid gzip');
  }
}
