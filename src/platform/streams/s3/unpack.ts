import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createUnzstd, NoZstd, WideWindow } from '../unpack-zstd.ts';
import type { ObjectFormat } from './format.ts';
import { BadObject } from './piece.ts';

/**
 * What packed bytes unpack to.
 *
 * @throws BadObject when they are no such packing, or end too early
 */
export function unpacked(
  chunks: AsyncIterable<Uint8Array>,
  packing: ObjectFormat['packing'],
): AsyncIterable<Uint8Array> {
  if (packing === 'none') return chunks;
  return packing === 'gzip' ? gunzipped(chunks) : unzstd(chunks);
}

/** Bytes without the first ones, which were read before. */
export async function* behind(chunks: AsyncIterable<Uint8Array>, skip: number): AsyncGenerator<Uint8Array> {
  let left = skip;
  for await (const chunk of chunks) {
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
  const unpacking = createUnzstd();
  try {
    for await (const chunk of chunks) yield* unpacking.push(chunk);
    yield* unpacking.finish();
  } catch (error) {
    if (!(error instanceof NoZstd || error instanceof WideWindow)) throw error;
    const isFinal = error instanceof WideWindow;
    throw new BadObject('unsupported_format', error.message, { isFinal, cause: error });
  }
}
