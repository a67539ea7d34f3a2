import { hash } from 'node:crypto';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';

/**
 * Version stored beside every digest of events. Watermarks without a version are of the first: a SHA-256 over all
 * events in the order of their transaction ids.
 */
export const DIGEST_VERSION = 2;

/**
 * Hexadecimal digits taken of a SHA-256: four times 15, since 60 bits are a positive number of eight bytes in SQL and a
 * sum of such numbers is the cheapest that Postgres has. 240 bits.
 */
const LANES = 4;
const LANE_DIGITS = 15;
const LANE_SIZE = String(2n ** 60n);

/**
 * Decimal digits of a number below which all sums of hashes stay: 240 bits are less than 10^73, so there is room for
 * 10^10 events of one sum.
 */
const COUNT_AT = 83;
/** What every event adds besides its hash, as text for SQL. */
export const DIGEST_OF_ONE = `1${'0'.repeat(COUNT_AT)}`;
const COUNT_UNIT = BigInt(DIGEST_OF_ONE);

/**
 * The number that an event adds to the digest of its bucket: the beginning of a SHA-256 over instant, transaction id
 * and property text, and 10^83, so that a sum shows how many hashes it holds.
 *
 * A digest of many events is the sum of these numbers. A sum does not depend on the order of arrival, can be added up
 * over groups, hours and days, and an event that is taken away is subtracted: rollups keep it without reading an event
 * again. That is good enough as evidence of what was counted: an event that is missing, doubled, changed or moved
 * leaves another sum, and two sets of events that differ by accident have the same one with a chance of 2^-240. It does
 * not protect from a forger who writes into the database: they could store a digest of their own, or look for
 * transaction ids whose hashes add up to the same (a sum of hashes resists far fewer attempts than a hash over all
 * events in order would).
 *
 * @param at   ISO text in UTC with microseconds
 * @param text of the metric's property; null: absent
 * @returns a whole number as decimal text; `digestOfHashes` makes the same in SQL
 */
export function eventDigest(at: string, transactionId: string, text: string | null): string {
  const bits = hash('sha256', JSON.stringify([at, transactionId, text]), 'hex').slice(0, LANES * LANE_DIGITS);
  return `1${BigInt(`0x${bits}`).toString().padStart(COUNT_AT, '0')}`;
}

/** The hash of an event `e`, to stand as `hash` in the rows that `digestOfHashes` groups. */
export const eventHash = (db: Db, fieldName: Fragment) => db`
  encode(sha256(convert_to(array_to_json(array[
    ${isoText(db, db`e.timestamp`)}, e.transaction_id, e.properties ->> ${fieldName}])::text, 'UTF8')), 'hex')`;

/** The digest of grouped events, from their `hash`; 0 of none. The same sum as of `eventDigest`. */
export const digestOfHashes = (db: Db): Fragment => {
  const lane = (n: number) => db`
    coalesce(sum(('x' || substr(hash, ${1 + n * LANE_DIGITS}::int, ${LANE_DIGITS}::int))::bit(60)::bigint), 0)`;
  return db`(((${lane(0)} * ${LANE_SIZE}::numeric + ${lane(1)}) * ${LANE_SIZE}::numeric + ${lane(2)})
    * ${LANE_SIZE}::numeric + ${lane(3)} + count(*) * ${DIGEST_OF_ONE}::numeric)`;
};

/** A digest that was added up, as watermarks show it. */
export interface DigestSum {
  /** How many events are in it; another number than the rows it was kept with: some of them do not keep one. */
  count: number;
  /** 64 hexadecimal digits: the sum of the hashes modulo 2^256. */
  digest: string;
}

export function readDigestSum(sum: bigint): DigestSum {
  const hashes = sum % COUNT_UNIT;
  return {
    count: Number(sum / COUNT_UNIT),
    digest: BigInt.asUintN(256, hashes).toString(16).padStart(64, '0'),
  };
}
