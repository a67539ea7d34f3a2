import type { ModelName } from '../../../engine/ai/rating/model-name.ts';

const MOST = 3;
/** Names that share fewer letters from the beginning have nothing to do with each other. */
const LEAST_SHARED = 3;

/**
 * The names of the book that are nearest to one it does not have: those that share most letters from the beginning, of
 * these the ones of the same provider, then the shortest.
 *
 *   gpt-4o-mini-2 → gpt-4o-mini, gpt-4o
 */
export function nearestNames(asked: ModelName, known: readonly ModelName[]): ModelName[] {
  return known
    .map((name) => ({ name, shared: sharedLetters(asked.model, name.model) }))
    .filter(({ shared }) => shared >= LEAST_SHARED)
    .sort(
      (a, b) =>
        b.shared - a.shared ||
        Number(b.name.provider === asked.provider) - Number(a.name.provider === asked.provider) ||
        a.name.model.length - b.name.model.length ||
        (`${a.name.provider}/${a.name.model}` < `${b.name.provider}/${b.name.model}` ? -1 : 1),
    )
    .slice(0, MOST)
    .map(({ name }) => name);
}

function sharedLetters(a: string, b: string): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared += 1;
  return shared;
}
