/** Shorter names are close to too many others: HOST is two letters from HOME. */
const SHORTEST = 8;
/** How many letters may be omitted, added, replaced or swapped in what still counts as a misspelling. */
const MOST_SLIPS = 2;

/**
 * Names that are not in `known` but were probably meant as one that is not set: with a few wrong letters, or without
 * its last words. Names of other programs differ much more.
 */
export function misspelled(given: readonly string[], known: readonly string[]): { given: string; meant: string }[] {
  const names = new Set(known);
  const unset = known.filter((name) => !given.includes(name) && name.length >= SHORTEST);
  return given
    .filter((name) => !names.has(name) && name.length >= SHORTEST)
    .flatMap((name) => {
      const meant = unset.find((each) => isShortened(name, each) || slips(name, each) <= MOST_SLIPS);
      return meant === undefined ? [] : [{ given: name, meant }];
    });
}

/** PORTAL_TOKEN_TTL for PORTAL_TOKEN_TTL_HOURS; a single word is too little to guess from. */
const isShortened = (name: string, whole: string): boolean =>
  name.split('_').length > 2 && whole.startsWith(`${name}_`);

/** Smallest number of letters to omit, add, replace, or swap with their neighbour (optimal string alignment). */
function slips(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > MOST_SLIPS) return MOST_SLIPS + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? beforeLast[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[right.length]!;
}
