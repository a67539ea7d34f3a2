import type { Context } from '../context.ts';
import type { Tx } from '../db/connect.ts';

/**
 * Runs a part of a transaction that may fail while the rest goes on: everything that a failed part wrote, recorded or
 * owed is undone. `work` must write through the given context, whose savepoint is the driver's own; otherwise a failed
 * statement ends the transaction.
 */
export async function nested<Answer>(ctx: Context, work: (own: Context) => Promise<Answer>): Promise<Answer> {
  const recorded: Parameters<Context['record']>[0][] = [];
  const owed: Parameters<Context['after']>[0][] = [];
  const answer = await withinSavepoint(ctx, (db) =>
    work({
      ...ctx,
      db,
      record: (entry) => void recorded.push(entry),
      after: (entry) => void owed.push(entry),
    }),
  );
  for (const entry of recorded) ctx.record(entry);
  for (const entry of owed) ctx.after(entry);
  return answer;
}

/**
 * Runs work and undoes it: only its result remains, and nothing is written, recorded or owed. Errors of `work` are
 * rethrown, and the transaction goes on.
 */
export async function dryRun<Answer>(ctx: Context, work: (own: Context) => Promise<Answer>): Promise<Answer> {
  const takenBack = { answer: undefined as Answer | undefined };
  try {
    await withinSavepoint(ctx, async (db) => {
      takenBack.answer = await work({ ...ctx, db, record: () => {}, after: () => {} });
      throw takenBack;
    });
  } catch (error) {
    if (error !== takenBack) throw error;
  }
  return takenBack.answer as Answer;
}

const withinSavepoint = <Answer>(ctx: Context, work: (db: Tx) => Promise<Answer>): Promise<Answer> =>
  (ctx.db as Tx).savepoint((db) => work(db)) as Promise<Answer>;
