/** A line of a segment: length and checksum of its JSON in hex, then the JSON. */
const HEAD = /^([0-9a-f]{8}) ([0-9a-f]{8}) /;
const HEAD_LENGTH = 18;
const NEWLINE = 0x0a;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** CRC-32, as zlib computes it in later versions of Node. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

const hex = (value: number): string => value.toString(16).padStart(8, '0');

export function lineOf(record: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(record));
  return Buffer.concat([Buffer.from(`${hex(json.length)} ${hex(crc32(json))} `), json, Buffer.from('\n')]);
}

export interface ReadLines {
  records: { record: unknown; end: number }[];
  /** Lines that are not whole: a process was killed while it wrote. */
  torn: number;
}

/** Records of a segment from a position on, each with the position behind it. */
export function linesIn(bytes: Buffer, from: number): ReadLines {
  const read: ReadLines = { records: [], torn: 0 };
  for (let start = from; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const record = recordIn(bytes.subarray(start, end));
    if (record === undefined) read.torn += 1;
    else read.records.push({ record, end: end + 1 });
    start = end + 1;
  }
  return read;
}

function recordIn(line: Buffer): unknown {
  const head = HEAD.exec(line.subarray(0, HEAD_LENGTH).toString('latin1'));
  const json = line.subarray(HEAD_LENGTH);
  if (!head || Number.parseInt(head[1]!, 16) !== json.length || Number.parseInt(head[2]!, 16) !== crc32(json))
    return undefined;
  return JSON.parse(json.toString());
}
