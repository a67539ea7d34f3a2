import { crc32 } from 'node:zlib';

/** What the classic form of the format can count; nothing here writes the larger one. */
const MOST_FILES = 65_535;
const MOST_BYTES = 0xffff_ffff;
/** Version of the format in which files are kept as they are, and names are UTF-8. */
const VERSION = 20;
const UTF8_NAMES = 0x0800;

/** A ZIP file that is written file after file, without compression; `write` gets its bytes in order. */
export interface ZipWriter {
  /** @throws Error when there are more files or bytes than the format counts */
  add(name: string, content: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/**
 * Writes a ZIP file. Only the list of names is kept in memory, so that its size is no concern.
 *
 * @param at time of all files, as their readers show it
 */
export function zipWriter(write: (bytes: Uint8Array) => Promise<void>, at: Date): ZipWriter {
  const listed: Buffer[] = [];
  const [time, date] = dosTime(at);
  let offset = 0;

  const put = async (bytes: Buffer): Promise<void> => {
    offset += bytes.length;
    if (offset > MOST_BYTES) throw new Error('a ZIP file holds 4 GiB at most: choose a shorter period');
    await write(bytes);
  };

  return {
    async add(name, content) {
      if (listed.length === MOST_FILES)
        throw new Error(`a ZIP file holds ${MOST_FILES} files: choose a shorter period`);
      const path = Buffer.from(name);
      // Common part of the header before a file and of its line in the list: version to length of the name.
      const common = Buffer.alloc(24);
      common.writeUInt16LE(VERSION, 0);
      common.writeUInt16LE(UTF8_NAMES, 2);
      common.writeUInt16LE(time, 6);
      common.writeUInt16LE(date, 8);
      common.writeUInt32LE(crc32(content), 10);
      common.writeUInt32LE(content.length, 14);
      common.writeUInt32LE(content.length, 18);
      common.writeUInt16LE(path.length, 22);
      const line = Buffer.alloc(16);
      line.writeUInt32LE(offset, 12);
      listed.push(Buffer.concat([signed('PK\x01\x02'), version(), common, line, path]));
      await put(Buffer.concat([signed('PK\x03\x04'), common, Buffer.alloc(2), path, content]));
    },
    async end() {
      const start = offset;
      const list = Buffer.concat(listed);
      const end = Buffer.alloc(18);
      end.writeUInt16LE(listed.length, 4);
      end.writeUInt16LE(listed.length, 6);
      end.writeUInt32LE(list.length, 8);
      end.writeUInt32LE(start, 12);
      await put(list);
      await put(Buffer.concat([signed('PK\x05\x06'), end]));
    },
  };
}

const signed = (text: string): Buffer => Buffer.from(text, 'latin1');
const version = (): Buffer => Buffer.from([VERSION, 0]);

/** Time and day as the format keeps them: two seconds to a unit, years from 1980. */
function dosTime(at: Date): [time: number, date: number] {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return [time, date];
}
