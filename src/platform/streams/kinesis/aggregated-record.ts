import { createHash } from 'node:crypto';

/** The records of users in one of Amazon's producer library begin so, and end with the MD5 of what is between. */
const MAGIC = Buffer.from('f3899ac2', 'hex');
const DIGEST_BYTES = 16;

/** Fields of its protobuf: of the whole the records, of a record its data. */
const RECORDS_FIELD = 3;
const DATA_FIELD = 3;
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
const MOST_VARINT_BYTES = 10;

/** It has the marks of an aggregated record, and its content cannot be told apart. */
export class BadAggregate extends Error {}

/**
 * The data of the records that a producer put into one; undefined for a record that is none of these.
 *
 * Which of their hash keys lie in the shard is not asked: after resharding a producer may send a record again to the
 * shard where it belongs, and what comes twice is a replay.
 *
 * @throws BadAggregate
 * Rule: streams.md#records-of-kinesis.
 */
export function userRecordsOf(data: Uint8Array): Uint8Array[] | undefined {
  const end = data.length - DIGEST_BYTES;
  if (end < MAGIC.length || !MAGIC.equals(data.subarray(0, MAGIC.length))) return undefined;
  const content = data.subarray(MAGIC.length, end);
  if (!createHash('md5').update(content).digest().equals(data.subarray(end))) return undefined;
  const records: Uint8Array[] = [];
  for (const [field, value] of fieldsOf(content)) {
    if (field !== RECORDS_FIELD) continue;
    let found: Uint8Array | undefined;
    for (const [inner, bytes] of fieldsOf(value)) if (inner === DATA_FIELD) found = bytes;
    if (!found) throw new BadAggregate('a record in it has no data');
    records.push(found);
  }
  return records;
}

/** Fields with bytes, by their numbers; others are passed over. */
function* fieldsOf(bytes: Uint8Array): Generator<[field: number, value: Uint8Array]> {
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new BadAggregate('it ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const varint = (): number => {
    let value = 0;
    for (let count = 0; count < MOST_VARINT_BYTES; count += 1) {
      const byte = take(1)[0]!;
      value += (byte & 0x7f) * 2 ** (7 * count);
      if (byte < 0x80) return value;
    }
    throw new BadAggregate('a number in it does not end');
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, kind] = [Math.floor(tag / 8), tag % 8];
    if (kind === LENGTH_DELIMITED) yield [field, take(varint())];
    else if (kind === VARINT) varint();
    else if (kind === FIXED_64) take(8);
    else if (kind === FIXED_32) take(4);
    else throw new BadAggregate('it is no protobuf');
  }
}
