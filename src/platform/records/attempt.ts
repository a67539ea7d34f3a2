import type { Context } from '../context.ts';
import type { Tx } from '../db/connect.ts';

/**
 * Does a piece of a transaction's work that may fail while the rest goes on: whatever a failed piece wrote, recorded or
 * owed is gone. The savepoint is the driver's own: only so a transaction outlives a statement that failed.
 */
export async function attempt<Answer>(ctx: Context, work: (own: Context) => Promise<Answer>): Promise<Answer> {
  const entries: Parameters<Context['record']>[0][] = [];
  const steps: Parameters<Context['after']>[0][] = [];
  const answer = (await (ctx.db as Tx).savepoint((db) =>
    work({
      ...ctx,
      db,
      record: (entry) => void entries.push(entry),
      after: (step) => void steps.push(step),
    }),
  )) as Answer;
  for (const entry of entries) ctx.record(entry);
  for (const step of steps) ctx.after(step);
  return answer;
}
