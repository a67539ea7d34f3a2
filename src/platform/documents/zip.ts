import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** A ZIP file that is written file after file, without compression. */
export interface ZipWriter {
  /** Adds a file; its content is not needed any more when this is done. */
  add(name: string, content: Uint8Array): Promise<void>;
  /** Writes the list of files; done when the last byte is written. Without it no program opens the ZIP file. */
  end(): Promise<void>;
}

/**
 * Writes a ZIP file of any number of files and bytes. Memory holds one or two contents and the names of all files.
 *
 * @param write gets the bytes in order; it is called again only when it is done, and its failure fails the call here
 * @param at time of all files, as their readers show it
 */
export function zipWriter(write: (bytes: Uint8Array) => Promise<void>, at: Date): ZipWriter {
  const zip = new ZipFile();
  const written = writeAll(zip.outputStream, write);
  // Its failure is thrown by the call that waits for it; without this line it would end the process first.
  written.catch(() => {});
  return {
    async add(name, content) {
      let file: Readable | undefined = Readable.from([content], { objectMode: false });
      const taken = once(file, 'end');
      zip.addReadStreamLazy(name, { compress: false, mtime: at, size: content.byteLength }, (take) => {
        const handed = file!;
        // The library keeps this function until the end, so it must not hold a content.
        file = undefined;
        take(null, handed);
      });
      await Promise.race([taken, written]);
    },
    async end() {
      zip.end();
      await written;
    },
  };
}

async function writeAll(
  output: AsyncIterable<string | Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  for await (const bytes of output) await write(bytes as Uint8Array);
}
