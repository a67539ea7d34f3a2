/** Digits of a payment card's number (ISO/IEC 7812). */
const FEWEST_DIGITS = 13;
const MOST_DIGITS = 19;

/** Digits with up to three blanks or dashes between them, unless they belong to a word, such as an id or a UUID. */
const RUN = /(?<![\w+])(?<!\d-)\d+(?:[ \u00a0-]{1,3}\d+)*(?!\w)/g;

/** Whether the last digit is the check digit of the others (Luhn, ISO/IEC 7812-1 annex B). */
export function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const counted = place % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

/**
 * A text in which numbers of cards are replaced by their last four digits: `[card …1111]`. Other numbers may stand
 * beside one (a date, its code), so every row of whole groups is tried, the longest first.
 */
export const withoutCardNumbers = (text: string): string =>
  text.replace(RUN, (run) => {
    const groups = [...run.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({ digits, from: index }));
    let kept = '';
    let done = 0;
    for (let first = 0; first < groups.length; first += 1) {
      const last = lastOfCard(groups, first);
      if (last === undefined) continue;
      const number = groups.slice(first, last + 1).map(({ digits }) => digits);
      kept += `${run.slice(done, groups[first]!.from)}[card …${number.join('').slice(-4)}]`;
      done = groups[last]!.from + groups[last]!.digits.length;
      first = last;
    }
    return kept + run.slice(done);
  });

/** The last group of the longest card number that begins with a group; undefined if none does. */
function lastOfCard(groups: readonly { digits: string }[], first: number): number | undefined {
  let digits = '';
  let found: number | undefined;
  for (let last = first; last < groups.length; last += 1) {
    digits += groups[last]!.digits;
    if (digits.length > MOST_DIGITS) break;
    if (digits.length >= FEWEST_DIGITS && hasCheckDigit(digits)) found = last;
  }
  return found;
}
