import type { Outcome } from '../edge-deps.ts';

/**
 * An answer in pieces with its first piece read, so that a server which is gone by then fails before anything is sent.
 */
export async function begun(outcome: Outcome): Promise<Outcome> {
  if (outcome.stream !== undefined) return { ...outcome, stream: await firstRead(outcome.stream) };
  if (outcome.bytes !== undefined) return { ...outcome, bytes: await firstRead(outcome.bytes) };
  return outcome;
}

async function firstRead<Piece>(pieces: AsyncIterable<Piece>): Promise<AsyncIterable<Piece>> {
  const iterator = pieces[Symbol.asyncIterator]();
  let next: IteratorResult<Piece> | undefined = await iterator.next();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const first = next;
        next = undefined;
        return first ?? iterator.next();
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}
