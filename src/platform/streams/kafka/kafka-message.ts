import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { StreamMessage } from '../source.ts';
import { keyOf, type Place } from './positions.ts';

/** Milliseconds of the last instant that an ISO text of four digits of the year tells. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * A record as a message. Its checkpoint is the offset behind it.
 *
 * nowMs  stands for the time of a record that has none
 * Rule: streams.md#kafka.
 */
export function messageOf(place: Place, record: KafkaMessage, nowMs: number): StreamMessage {
  const key = keyOf(place);
  return {
    position: `${key}/${record.offset}`,
    bytes: record.value,
    sourceTime: isoOf(timeOf(record, nowMs)),
    headers: headersOf(record.headers),
    checkpoint: { key, rank: record.offset, value: { next: String(BigInt(record.offset) + 1n) } },
  };
}

/** Time of a record in milliseconds since 1970. */
export function timeOf({ timestamp }: KafkaMessage, nowMs: number): number {
  const ms = Number(timestamp);
  return Number.isFinite(ms) && ms > 0 && ms <= LAST_MS ? ms : nowMs;
}

const isoOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

const NO_HEADERS: Record<string, string> = {};

/** Of several headers of a name the last one, as consumers of the protocol do. */
function headersOf(headers: IHeaders | undefined): Record<string, string> {
  const found = Object.entries(headers ?? NO_HEADERS);
  if (found.length === 0) return NO_HEADERS;
  return Object.fromEntries(
    found.flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return last === undefined ? [] : [[name.toLowerCase(), String(last)]];
    }),
  );
}
