import { printable } from './characters.ts';
import { stretchesOf } from './direction.ts';
import type { DocumentFonts, FontName } from './fonts.ts';

/** A stretch of text in one font. */
export interface Run {
  text: string;
  font: FontName;
}

/**
 * Texts of only these characters need no check of the fonts: Latin with its accents, Greek, Cyrillic, currency signs.
 */
const PLAIN =
  /^[\n\u0020-\u007e\u00a0-\u017f\u0370-\u0377\u037a-\u037f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03e1\u03f0-\u03ff\u0400-\u045f\u2010-\u2026\u202f\u20ac]*$/;

/** Stands for a character that no font has: PDF/A refuses the glyph that fonts have for that. */
const BOX = '\u25a1';

/**
 * A text split where its font or its direction changes, from left to right; an unsplit text if the main font sets all
 * of it in one direction.
 */
export function runsOf(written: string, fonts: DocumentFonts): Run[] | string {
  if (PLAIN.test(written)) return written;
  const text = printable(written);
  const stretches = stretchesOf(text) ?? [{ text, isReversed: false }];
  const runs = stretches.flatMap(({ text: stretch, isReversed }) => {
    const set = runsInOrder(stretch, fonts);
    return isReversed ? set.reverse() : set;
  });
  return runs.length === 1 && runs[0]!.font === 'main' ? runs[0]!.text : runs;
}

function runsInOrder(text: string, fonts: DocumentFonts): Run[] {
  const runs: Run[] = [];
  for (const character of text) {
    const last = runs.at(-1);
    // Words of a script that the main font lacks are one run: from right to left they would change places else.
    const font = last?.font === 'wide' && /[ \u00a0]/.test(character) ? 'wide' : fonts.fontOf(character);
    const shown = fonts.missing.has(character) ? BOX : character;
    if (last?.font === font) last.text += shown;
    else runs.push({ text: shown, font });
  }
  return runs;
}
