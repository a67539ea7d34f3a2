import { assert } from '../engine/assert.ts';
import type { Context } from './context.ts';

/** Something that happened to a record, to which other areas may react: `couponDeleted`, with its payload. */
export interface Announcement<Payload> {
  readonly name: string;
  /** Type of the payload; never present at run time. */
  readonly payload?: Payload;
}

/** Input of the reactions to an announcement. */
export type PayloadOf<What> = What extends Announcement<infer Payload> ? Payload : never;

export type Reaction<Payload> = (ctx: Context, payload: Payload) => Promise<void>;

/** The reactions to each announcement, in order. */
export type Reactions = ReadonlyMap<string, readonly Reaction<never>[]>;

export const announcement = <Payload>(name: string): Announcement<Payload> => ({ name });

/** For a process that makes no announcements. */
export const NO_REACTIONS: Reactions = new Map();

/** One row of the table of reactions. */
export const on = <Payload>(
  { name }: Announcement<Payload>,
  ...reactions: readonly Reaction<Payload>[]
): readonly [string, readonly Reaction<never>[]] => [name, reactions];

/** The table that processes start with. @throws Error when an announcement has two rows */
export function reactionTable(rows: readonly (readonly [string, readonly Reaction<never>[]])[]): Reactions {
  const table = new Map(rows);
  assert(table.size === rows.length, 'every announcement has one row');
  return table;
}

/**
 * Runs the reactions of higher areas one after the other, in the transaction and in the order of src/reactions.ts. The
 * announcing area does not know them.
 *
 * @throws Refusal of any reaction, which refuses the whole command
 */
export async function announce<Payload>(
  ctx: Context,
  { name }: Announcement<Payload>,
  payload: Payload,
): Promise<void> {
  const reactions = ctx.reactions.get(name) as readonly Reaction<Payload>[] | undefined;
  assert(reactions, `${name} has a row in the table of reactions`);
  for (const react of reactions) await react(ctx, payload);
}
