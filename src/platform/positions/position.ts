/** A place in Postgres' log of changes: what was committed before it is at every server that has replayed up to it. */
export type Position = bigint;

const HALF_BITS = 32n;
const HALF_MASK = 0xffff_ffffn;
const DIGITS = 16;
const TEXT = /^[0-9a-f]{1,8}\/[0-9a-f]{1,8}$/i;

/** The position in a text of Postgres (`16/B374D848`); undefined if the text is none. */
export function readPosition(text: string): Position | undefined {
  if (!TEXT.test(text)) return undefined;
  const [high, low] = text.split('/') as [string, string];
  return (BigInt(`0x${high}`) << HALF_BITS) | BigInt(`0x${low}`);
}

/** As Postgres writes it. */
export const positionText = (position: Position): string =>
  `${(position >> HALF_BITS).toString(16)}/${(position & HALF_MASK).toString(16)}`.toUpperCase();

/** As a text that sorts like the position. */
export const sortableText = (position: Position): string => position.toString(16).padStart(DIGITS, '0');

export const readSortable = (text: string): Position => BigInt(`0x${text}`);
