import { createRequire } from 'node:module';
import type { Bidi } from 'bidi-js';

/** A stretch of a text with one direction. */
export interface Stretch {
  text: string;
  /** Whether its letters run from right to left; they stand in the order in which they are read. */
  isReversed: boolean;
}

/** Letters that are written from right to left: Hebrew, Arabic, Syriac, Thaana, N'Ko and what is encoded with them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const NO_BREAK = '\u00a0';
/** About as many characters as a column holds; what is longer has to be broken somewhere. */
const LINE = 60;
const PIECES = new RegExp(`.{1,${LINE}}(?: |$)|.{${LINE}}`, 'gsu');

// Its types are of a module with named exports, and its code is the function itself.
const bidi = (createRequire(import.meta.url)('bidi-js') as () => Bidi)();

/**
 * The stretches of a text from left to right, as a page from left to right shows them. The drawing library places words
 * one after the other and turns each by itself, with the space behind it: words of a name changed places, and two met
 * without a space. So the words of a stretch are kept together.
 *
 *   A (aleph bet) 12 → 'A ', '12', ' ', reversed '(aleph bet)' with its brackets mirrored
 *
 * @returns undefined, when nothing in it runs from right to left
 */
export function stretchesOf(text: string): Stretch[] | undefined {
  if (!RIGHT_TO_LEFT.test(text)) return undefined;
  const lines = text.split('\n').map(stretchesOfLine);
  return lines.flatMap((line, index) => (index === 0 ? line : [{ text: '\n', isReversed: false }, ...line]));
}

function stretchesOfLine(line: string): Stretch[] {
  if (!RIGHT_TO_LEFT.test(line)) return line === '' ? [] : [{ text: line, isReversed: false }];
  const embedding = bidi.getEmbeddingLevels(line, 'ltr');
  const seen = bidi.getReorderedIndices(line, embedding);
  const mirrored = bidi.getMirroredCharactersMap(line, embedding.levels);
  const found: { from: number; to: number }[] = [];
  for (const [place, index] of seen.entries()) {
    const last = found.at(-1);
    const before = seen[place - 1];
    const isSame = last && before !== undefined && Math.abs(index - before) === 1;
    if (!isSame || embedding.levels[index] !== embedding.levels[before]) found.push({ from: index, to: index });
    else Object.assign(last, { from: Math.min(last.from, index), to: Math.max(last.to, index) });
  }
  return found.flatMap(({ from, to }) => {
    const isReversed = embedding.levels[from]! % 2 === 1;
    if (!isReversed) return [{ text: line.slice(from, to + 1), isReversed }];
    const shown = Array.from({ length: to + 1 - from }, (_, at) => mirrored.get(from + at) ?? line[from + at]!).join(
      '',
    );
    return piecesOf(shown);
  });
}

/**
 * A stretch that is not broken between two lines, unless it is longer than one. The spaces at its ends stand apart: the
 * drawing library moves a line to the left by the space with which its first word begins, and of a word from right to
 * left that space is on the right.
 */
function piecesOf(text: string): Stretch[] {
  const [, before, words, behind] = /^( *)(.*?)( *)$/s.exec(text)!;
  const pieces = words!.length <= LINE ? [words!] : words!.match(PIECES)!;
  const reversed = pieces.flatMap((piece, index) => {
    const isLast = index === pieces.length - 1;
    const shown = { text: (isLast ? piece : piece.trimEnd()).replaceAll(' ', NO_BREAK), isReversed: true };
    return isLast ? [shown] : [shown, ...spaces(' ')];
  });
  return [...spaces(behind!), ...reversed.filter((each) => each.text !== ''), ...spaces(before!)];
}

const spaces = (text: string): Stretch[] => (text === '' ? [] : [{ text, isReversed: false }]);
