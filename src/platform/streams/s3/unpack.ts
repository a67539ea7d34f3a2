import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import type { ObjectFormat } from './format.ts';
import { BadObject } from './piece.ts';

/** What is unpacked at once: a block of 4 bytes may become 128 KiB. */
const ZSTD_SLICE = 1024;
/** Larger windows than those of `zstd --ultra` without `--long` would not fit beside what else a process holds. */
const ZSTD_MOST_WINDOW = 32 * 1024 * 1024;
const ZSTD_HEADER = 6;
const ZSTD_MAGIC = 0xfd2fb528;

/**
 * What packed bytes unpack to, without the first `skip` bytes of it.
 *
 * @throws BadObject when they are no such packing, or end too early
 */
export async function* unpacked(
  chunks: AsyncIterable<Uint8Array>,
  packing: ObjectFormat['packing'],
  skip: number,
): AsyncGenerator<Uint8Array> {
  let left = skip;
  for await (const chunk of packing === 'gzip' ? gunzipped(chunks) : packing === 'zstd' ? unzstd(chunks) : chunks) {
    if (left >= chunk.length) left -= chunk.length;
    else {
      yield left === 0 ? chunk : chunk.subarray(left);
      left = 0;
    }
  }
}

async function* gunzipped(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  const source = Readable.from(chunks, { objectMode: false });
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    yield* gunzip;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) throw new BadObject('unsupported_format', 'it is no whole gzip', { cause: error });
    throw error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

async function* unzstd(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const decompress = new Decompress((block) => ready.push(block));
  let head: Uint8Array | undefined = new Uint8Array();
  const push = (chunk: Uint8Array, isFinal: boolean): Uint8Array[] => {
    try {
      decompress.push(chunk, isFinal);
    } catch (cause) {
      throw new BadObject('unsupported_format', 'it is no whole zstd', { cause });
    }
    const blocks = ready.filter(({ length }) => length > 0);
    ready = [];
    return blocks;
  };
  for await (const part of chunks) {
    let chunk = part;
    if (head) {
      head = Buffer.concat([head, chunk]);
      if (head.length < ZSTD_HEADER) continue;
      demandSmallWindow(head);
      chunk = head;
      head = undefined;
    }
    for (let at = 0; at < chunk.length; at += ZSTD_SLICE) yield* push(chunk.subarray(at, at + ZSTD_SLICE), false);
  }
  yield* push(head ?? new Uint8Array(), true);
}

/** The window of a frame, as its header tells (RFC 8878, 3.1.1.1.2). */
function demandSmallWindow(head: Uint8Array): void {
  const isSingleSegment = (head[4]! & 0x20) !== 0;
  if (Buffer.from(head).readUInt32LE(0) !== ZSTD_MAGIC || isSingleSegment) return;
  const base = 2 ** (10 + (head[5]! >> 3));
  if (base + (base / 8) * (head[5]! & 7) > ZSTD_MOST_WINDOW)
    throw new BadObject('unsupported_format', 'its zstd window is larger than 32 MiB', { isFinal: true });
}
