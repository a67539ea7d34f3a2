import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import ZipStream from 'zip-stream';

/** What the library makes, with all that a stream of Node has. */
type Zip = ZipStream & Pick<Duplex, 'writableNeedDrain' | 'once' | 'destroy' | typeof Symbol.asyncIterator>;

/** A file of a ZIP file. */
export interface ZippedFile {
  name: string;
  content: Uint8Array;
}

/**
 * A ZIP file of any number of files and bytes, without compression, piece by piece. A file is taken when what came
 * before it was read, so memory holds one or two contents and the names of all files. Without its end, which comes when
 * the files end, no program opens it: one that broke off is not taken for a whole one.
 *
 * @param at time of all files, as their readers show it
 */
export async function* zipped(files: AsyncIterable<ZippedFile>, at: Date): AsyncGenerator<Uint8Array, void> {
  const zip = new ZipStream({ store: true }) as Zip;
  // Ends the wait for a file that nobody reads any more.
  const leaving = new AbortController();
  zip.once('close', () => leaving.abort());
  const fed = feed(zip, { files, at, signal: leaving.signal });
  fed.catch((error: Error) => zip.destroy(error));
  for await (const bytes of zip) yield bytes as Uint8Array;
  await fed;
}

async function feed(
  zip: Zip,
  { files, at, signal }: { files: AsyncIterable<ZippedFile>; at: Date; signal: AbortSignal },
): Promise<void> {
  for await (const { name, content } of files) {
    // A buffer, and no stream: its size and checksum then stand before it, where every program looks for them.
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    await new Promise<void>((resolve, reject) =>
      zip.entry(bytes, { name, date: at }, (error) => (error ? reject(error) : resolve())),
    );
    if (signal.aborted) return;
    try {
      if (zip.writableNeedDrain) await once(zip, 'drain', { signal });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
  zip.finalize();
}
