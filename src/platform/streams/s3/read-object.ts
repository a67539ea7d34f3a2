import { deliverInSlices } from '../deliver-in-slices.ts';
import { inTurns } from '../in-turns.ts';
import type { SourceHost, StoredCheckpoint, StreamMessage } from '../source.ts';
import { elementsOf } from './elements.ts';
import type { ObjectFormat } from './format.ts';
import { linesOf } from './lines.ts';
import { BadObject, type Piece, type Place } from './piece.ts';
import { rowsOf } from './rows.ts';
import type { FoundObject } from './store.ts';
import { behind, unpacked } from './unpack.ts';

const START: Place = { offset: 0, line: 0 };
const READERS = { ndjson: linesOf, json: elementsOf, csv: rowsOf };
const BOM = [0xef, 0xbb, 0xbf];
/** After so many dead letters of a file it is looked whether most of it is poison. */
const MOST_LETTERS = 10_000;

/** Opens an object from a byte on. */
type OpenObject = (offset: number) => Promise<AsyncIterable<Uint8Array>>;

type Host = Pick<SourceHost, 'deliver' | 'checkpoints' | 'room' | 'signal'>;

/**
 * Reads an object from where its checkpoint says: a plain one from that byte on, a packed one from its start, without
 * what was read. While a slice is stored the next one is read. What stands before a fault is stored; then it is thrown.
 * A file with very many dead letters, more than it has events, is not read to its end.
 *
 * until  aborted when another process has taken the object
 *
 * @throws BadObject; what `open` throws; what `deliver` throws
 */
export async function readObject(
  host: Host,
  object: FoundObject,
  format: ObjectFormat,
  open: OpenObject,
  until?: AbortSignal,
): Promise<void> {
  const from = await placeOf(host, object);
  if (from.isEnd) return;
  const isPlain = format.packing === 'none';
  // The first bytes of a file that was read to its end lie behind it, and no server gives them.
  if (isPlain && from.offset >= object.size) return;
  const chunks = await open(isPlain ? from.offset : 0);
  const signal = until ? AbortSignal.any([host.signal, until]) : host.signal;
  const unpackedChunks = inTurns(unpacked(chunks, format.packing), signal);
  const content = withoutBom(behind(unpackedChunks, isPlain ? 0 : from.offset), from);
  async function* messages(): AsyncGenerator<StreamMessage> {
    for await (const piece of READERS[format.content](content, from)) yield messageOf(object, piece);
  }
  await deliverInSlices(demandingEvents(host, object), messages(), until ? { until } : {});
}

const checkpointOf = async ({ checkpoints }: Host, { id }: FoundObject): Promise<StoredCheckpoint | undefined> =>
  (await checkpoints(id)).find(({ key }) => key === id);

/** Looks at what became of a file whenever it has got so many more dead letters. Rule: streams.md#how-many. */
function demandingEvents(host: Host, object: FoundObject): Host {
  let letters = 0;
  return {
    ...host,
    async deliver(messages, until) {
      const delivered = await host.deliver(messages, until);
      letters += delivered.putAside.reduce((sum, { reasons }) => sum + reasons.length, 0);
      if (letters < MOST_LETTERS) return delivered;
      letters = 0;
      const found = await checkpointOf(host, object);
      if (found && found.dead > found.stored + found.replayed)
        throw new BadObject('unsupported_format', `${found.dead} of its events are wrong, more than are not`, {
          isFinal: true,
        });
      return delivered;
    },
  };
}

async function placeOf(host: Host, object: FoundObject): Promise<Place> {
  const found = await checkpointOf(host, object);
  return found && typeof found.value.offset === 'number' ? (found.value as unknown as Place) : START;
}

function messageOf(object: FoundObject, { bytes, refused, next }: Piece): StreamMessage {
  return {
    position: `${object.key}#${next.line}`,
    bytes,
    sourceTime: object.sourceTime,
    ...(refused === undefined ? {} : { refused: { code: 'invalid_event' as const, message: refused } }),
    checkpoint: { key: object.id, rank: String(next.line), value: { ...next } },
  };
}

/** Tools write three bytes before a text; they count in offsets, as spaces that take their place do. */
async function* withoutBom(chunks: AsyncIterable<Uint8Array>, { offset }: Place): AsyncGenerator<Uint8Array> {
  let at = offset;
  for await (const chunk of chunks) {
    if (at < BOM.length && chunk.length > 0) {
      const copy = Uint8Array.from(chunk);
      for (let index = 0; at + index < BOM.length && copy[index] === BOM[at + index]; index += 1) copy[index] = 0x20;
      yield Buffer.from(copy.buffer);
    } else yield chunk;
    at += chunk.length;
  }
}
