import { Decompress } from 'fzstd';

/**
 * How many packed bytes are unpacked at once: a block of 4 bytes may become 128 KiB, so fewer where they become much.
 * Measured with blocks of one repeated byte: 1 024 at once took 32 MiB each time, and the process 110 MiB for a while.
 */
const [SMALLEST_SLICE, LARGEST_SLICE] = [16, 1024];
const MUCH_BYTES = 1024 * 1024;
/** Larger windows than those of `zstd --ultra` without `--long` would not fit beside what else a process holds. */
const MOST_WINDOW = 32 * 1024 * 1024;
const MAGIC = 0xfd2fb528;
/** Frames of these numbers hold what readers pass over. */
const SKIPPED_MAGIC = 0x184d2a50;
const SKIPPED_MASK = 0xfffffff0;
const BLOCK_HEADER = 3;
const CHECKSUM_BYTES = 4;
const REPEATED_BYTE = 1;

/** It is no zstd, or is cut off. */
export class NoZstd extends Error {}
/** A frame of it would need more memory than a process has for it. */
export class WideWindow extends Error {}

/**
 * Unpacks bytes as they come, of any number of frames; `finish` once there are no more.
 *
 * @throws NoZstd, WideWindow
 */
export function createUnzstd(): { push(chunk: Uint8Array): Generator<Uint8Array>; finish(): Generator<Uint8Array> } {
  let ready: Uint8Array[] = [];
  const decompress = new Decompress((block) => ready.push(block));
  const frames = new Frames();
  let slice = SMALLEST_SLICE;
  const unpack = (packed: Uint8Array, isFinal: boolean): Uint8Array[] => {
    try {
      decompress.push(packed, isFinal);
    } catch (cause) {
      throw new NoZstd('it is no whole zstd', { cause });
    }
    const blocks = ready.filter(({ length }) => length > 0);
    ready = [];
    return blocks;
  };
  return {
    *push(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const packed = chunk.subarray(at, at + slice);
        at += packed.length;
        frames.look(packed);
        const blocks = unpack(packed, false);
        const isMuch = blocks.reduce((sum, { length }) => sum + length, 0) > MUCH_BYTES;
        slice = isMuch ? Math.max(SMALLEST_SLICE, slice / 2) : Math.min(LARGEST_SLICE, slice * 2);
        yield* blocks;
      }
    },
    *finish() {
      yield* unpack(new Uint8Array(), true);
    },
  };
}

/** Finds the frames in bytes as they come, and looks at the header of each before it is unpacked (RFC 8878, 3.1). */
class Frames {
  /** Bytes that are passed over before the next header of a frame or a block. */
  #skip = 0;
  #head = Buffer.alloc(0);
  /** Whether a header of a block comes next; else one of a frame. */
  #isInside = false;
  #hasChecksum = false;

  look(slice: Uint8Array): void {
    let at = 0;
    while (at < slice.length) {
      const passed = Math.min(this.#skip, slice.length - at);
      this.#skip -= passed;
      at += passed;
      if (at === slice.length) return;
      this.#head = Buffer.concat([this.#head, slice.subarray(at, at + 1)]);
      at += 1;
      if (this.#isInside ? this.#readBlock() : this.#readFrame()) this.#head = Buffer.alloc(0);
    }
  }

  /** @returns whether the header of the block is whole */
  #readBlock(): boolean {
    if (this.#head.length < BLOCK_HEADER) return false;
    const header = this.#head.readUIntLE(0, BLOCK_HEADER);
    const [isLast, kind, size] = [(header & 1) === 1, (header >> 1) & 3, header >> 3];
    this.#skip = kind === REPEATED_BYTE ? 1 : size;
    if (!isLast) return true;
    this.#skip += this.#hasChecksum ? CHECKSUM_BYTES : 0;
    this.#isInside = false;
    return true;
  }

  /** @returns whether the header of the frame is whole */
  #readFrame(): boolean {
    const head = this.#head;
    if (head.length < 5) return false;
    const magic = head.readUInt32LE(0);
    if ((magic & SKIPPED_MASK) >>> 0 === SKIPPED_MAGIC) {
      if (head.length < 8) return false;
      this.#skip = head.readUInt32LE(4);
      return true;
    }
    if (magic !== MAGIC) throw new NoZstd('it is no whole zstd');
    const flags = head[4]!;
    const isSingleSegment = (flags & 0x20) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][flags & 3]!;
    const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6]!;
    const sizeAt = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
    if (head.length < sizeAt + sizeBytes) return false;
    const window = isSingleSegment ? sizeIn(head.subarray(sizeAt)) : windowIn(head[5]!);
    if (window > MOST_WINDOW) throw new WideWindow('its zstd window is larger than 32 MiB');
    this.#hasChecksum = (flags & 4) !== 0;
    this.#isInside = true;
    return true;
  }
}

function windowIn(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** The length of what a frame holds, which is its window where it says so. */
function sizeIn(bytes: Buffer): number {
  if (bytes.length === 8) return Number(bytes.readBigUInt64LE());
  return bytes.readUIntLE(0, bytes.length) + (bytes.length === 2 ? 256 : 0);
}
