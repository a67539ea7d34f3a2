import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many bytes are worked on at once, and for how long before everything else of the process has its turn. */
const SLICE_BYTES = 16 * 1024;
const TURN_MS = 20;

/**
 * Bytes as they come, with turns for the rest of the process. Unpacked bytes wait for nothing, and the readers of lines
 * and rows neither: a packed file of a few KiB, all of it line ends, would keep the process busy for minutes, in which
 * it renews no lease, reads no other stream and does not end.
 *
 * @throws the reason of the signal once it is aborted, also where a reader finds nothing in what it is given
 */
export async function* inTurns(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let from = performance.now();
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      signal.throwIfAborted();
      yield chunk.subarray(at, at + SLICE_BYTES);
      if (performance.now() - from < TURN_MS) continue;
      await nextTurn();
      from = performance.now();
    }
  }
}
