export type FontName = 'main' | 'fallback';

/** A stretch of text in one font. */
export interface Run {
  text: string;
  font: FontName;
}

/** Scripts of Chinese, Japanese and Korean with their punctuation and full-width forms, which the main font lacks. */
const EAST_ASIAN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]+/u;

/** Whether a text needs the fallback font. */
export const isEastAsian = (text: string): boolean => EAST_ASIAN.test(text);

/** A text split where its font changes. Without a fallback everything is set in the main font. */
export function runsOf(text: string, fallback: FontName | null): Run[] | string {
  if (fallback === null || !isEastAsian(text)) return text;
  const parts = text.split(new RegExp(`(${EAST_ASIAN.source})`, 'u')).filter((part) => part !== '');
  return parts.map((part) => ({ text: part, font: isEastAsian(part) ? fallback : 'main' }));
}
