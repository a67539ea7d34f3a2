import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createUnzstd, NoZstd, WideWindow } from '../unpack-zstd.ts';
import type { ObjectFormat } from './format.ts';
import { BadObject } from './piece.ts';

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
