import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

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
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  // Ends the wait for a file that nobody reads any more.
  const leaving = new AbortController();
  output.once('close', () => leaving.abort());
  const fed = feed(zip, { files, at, signal: leaving.signal });
  fed.catch((error: Error) => output.destroy(error));
  for await (const bytes of output) yield bytes as Uint8Array;
  await fed;
}

async function feed(
  zip: ZipFile,
  { files, at, signal }: { files: AsyncIterable<ZippedFile>; at: Date; signal: AbortSignal },
): Promise<void> {
  for await (const { name, content } of files) {
    let file: Readable | undefined = Readable.from([content], { objectMode: false });
    const taken = once(file, 'end', { signal });
    zip.addReadStreamLazy(name, { compress: false, mtime: at, size: content.byteLength }, (take) => {
      const handed = file!;
      // The library keeps this function until the end, so it must not hold a content.
      file = undefined;
      take(null, handed);
    });
    try {
      await taken;
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
  zip.end();
}
