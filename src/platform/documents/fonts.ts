import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openFont } from './opened-fonts.ts';

export type FontName = 'main' | 'wide' | 'own' | 'japanese' | 'korean' | 'chinese';

interface FontFiles {
  normal: string;
  bold: string;
}

/** The fonts of one document: the font of each character, and the characters without one. */
export interface DocumentFonts {
  /** Files by name, in the form of the drawing library. */
  files: Record<string, FontFiles>;
  fontOf(character: string): FontName;
  /** Characters without a font, each once; they are printed as empty boxes. */
  missing: ReadonlySet<string>;
}

/** Scripts of Chinese, Japanese and Korean with their punctuation and full-width forms. */
const EAST_ASIAN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL = /\p{Script=Hangul}/u;

const resolve = createRequire(import.meta.url).resolve;
const dejavu = (style: string) =>
  join(dirname(resolve('dejavu-fonts-ttf/package.json')), 'ttf', `DejaVuSansCondensed${style}.ttf`);
// These packages export only their index in dist/, beside which fonts/ lies.
const noto = (name: string, file: string, form: 'otf' | 'ttf' = 'otf'): FontFiles => {
  const folder = join(dirname(resolve(name)), '..', 'fonts');
  return { normal: join(folder, `${file}-Regular.${form}`), bold: join(folder, `${file}-Bold.${form}`) };
};

const FILES: Record<Exclude<FontName, 'own'>, () => FontFiles> = {
  main: () => noto('@embedpdf/fonts-latin', 'NotoSans', 'ttf'),
  // Scripts and signs that the main one lacks: Hebrew, Arabic, Armenian, Georgian, arrows, boxes.
  wide: () => ({ normal: dejavu(''), bold: dejavu('-Bold') }),
  japanese: () => noto('@embedpdf/fonts-jp', 'NotoSansJP'),
  korean: () => noto('@embedpdf/fonts-kr', 'NotoSansKR'),
  // The only font with every sign of the basic block, including traditional forms, so it comes after the others.
  chinese: () => noto('@embedpdf/fonts-sc', 'NotoSansHans'),
};

/**
 * Fonts for a document with these words. Signs that Chinese, Japanese and Korean share are written a little differently
 * in each: a document with kana prints them as in Japan, one with Hangul as in Korea, any other as in China.
 *
 * @param ownFont path of a font that goes before the others for East Asian scripts
 */
export function fontsFor(words: string, ownFont: string | null): DocumentFonts {
  const eastAsian: FontName[] = [
    ...(ownFont === null ? [] : (['own'] as const)),
    ...(KANA.test(words) ? (['japanese'] as const) : []),
    ...(HANGUL.test(words) ? (['korean'] as const) : []),
    'chinese',
  ];
  const filesOf = (name: FontName): FontFiles =>
    name === 'own' ? { normal: ownFont!, bold: ownFont! } : FILES[name]();
  const missing = new Set<string>();
  return {
    files: Object.fromEntries((['main', 'wide', ...eastAsian] as const).map((name) => [name, filesOf(name)])),
    missing,
    fontOf(character) {
      const order: FontName[] = EAST_ASIAN.test(character)
        ? [...eastAsian, 'main', 'wide']
        : ['main', 'wide', ...eastAsian];
      const found = order.find((name) => covers(filesOf(name).normal, character));
      if (found === undefined && !INVISIBLE.test(character)) missing.add(character);
      return found ?? 'wide';
    },
  };
}

/** Line ends, direction marks and the like need no glyph. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const covers = (file: string, character: string): boolean =>
  openFont(file).hasGlyphForCodePoint(character.codePointAt(0)!);
