import { createHash } from 'node:crypto';
import type { Db } from '../../../platform/db/connect.ts';
import { newId, type OrganizationId } from '../../../platform/ids.ts';
import { storableJson, storableText } from '../../../platform/schema/storable.ts';
import { bytesArray, plainArray, textArray } from '../events/storage/array-literal.ts';
import type { DeadMessage } from './dead-message.ts';
import type { MessageHeaders } from './message-envelope.ts';

/** Whose messages they are. */
export interface Connector {
  organizationId: OrganizationId;
  code: string;
}

/** What is put aside of a message. */
export interface DeadLetter extends DeadMessage {
  position: string;
  /** Which event of the message. */
  part: number;
  sourceTime: string;
  headers: MessageHeaders;
}

/** How many characters the headers of a dead letter may have. */
const HEADERS_MAX = 16_384;

/**
 * A dead letter as it can be kept. Without headers that are too long it is as one of whose message only a part was
 * kept: it cannot be read again as it came.
 */
export function keptLetter(letter: DeadLetter): DeadLetter {
  const headers = storableJson(letter.headers) as MessageHeaders;
  if (JSON.stringify(headers).length > HEADERS_MAX) return { ...letter, headers: {}, isCut: true };
  return { ...letter, headers };
}

/**
 * Stores dead letters, each once: the same message that is read again is the same dead letter. `now` is real time, as
 * ISO text. Rule: streams.md#dead-letters.
 */
export const insertDeadLetters = (
  db: Db,
  { organizationId, code }: Connector,
  letters: DeadLetter[],
  now: string,
) => db`
  insert into ingest_dead_letters (organization_id, id, connector, position, part, payload, payload_digest, is_cut,
    headers, source_time, error_code, error_message, attempts, status, failed_at)
  select ${organizationId}, letter.id, ${code}, letter.position, letter.part, letter.payload, letter.payload_digest,
    letter.is_cut, letter.headers, letter.source_time, letter.error_code, letter.error_message, 1, 'open', ${now}
  from unnest(${plainArray(letters.map(() => newId()))}::uuid[],
    ${textArray(letters.map(({ position }) => storableText(position)))}::text[],
    ${plainArray(letters.map(({ part }) => part))}::int[],
    ${bytesArray(letters.map(({ payload }) => Buffer.from(payload).toString('hex')))}::bytea[],
    ${bytesArray(letters.map(({ payload }) => digestOf(payload)))}::bytea[],
    ${plainArray(letters.map(({ isCut }) => isCut))}::boolean[],
    ${textArray(letters.map(({ headers }) => JSON.stringify(headers)))}::jsonb[],
    ${textArray(letters.map(({ sourceTime }) => sourceTime))}::timestamptz[],
    ${textArray(letters.map((letter) => letter.code))}::text[],
    ${textArray(letters.map(({ message }) => storableText(message)))}::text[])
    as letter (id, position, part, payload, payload_digest, is_cut, headers, source_time, error_code, error_message)
  on conflict on constraint ingest_dead_letters_once do nothing`;

const digestOf = (payload: Uint8Array): string => createHash('sha256').update(payload).digest('hex').slice(0, 32);
