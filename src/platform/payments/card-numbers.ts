/** Digits of a payment card's number (ISO/IEC 7812). */
const FEWEST_DIGITS = 13;
const MOST_DIGITS = 19;

/**
 * Runs of 13 to 19 digits with blanks or dashes between them. A run that belongs to a word, such as an id, or to a
 * longer run is none.
 */
const RUN = new RegExp(
  `(?<![\\w+])(?<!\\d[ \\u00a0-])\\d(?:[ \\u00a0-]?\\d){${FEWEST_DIGITS - 1},${MOST_DIGITS - 1}}(?![ \\u00a0-]?\\d)(?!\\w)`,
  'g',
);

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

/** A text in which numbers of cards are replaced by their last four digits: `[card …1111]`. */
export const withoutCardNumbers = (text: string): string =>
  text.replace(RUN, (run) => {
    const digits = run.replaceAll(/\D/g, '');
    return hasCheckDigit(digits) ? `[card …${digits.slice(-4)}]` : run;
  });
