/** What stands for an interpolation in a text of `templateTexts`. */
export const HOLE = '$?';

const MAY_PRECEDE_A_PATTERN = /(?:^|[(,=:[!&|?{};+*<>]|\b(?:return|case|of|in|typeof))\s*$/;

/**
 * The texts of all template literals of a TypeScript source, in the order in which they end: each interpolation is
 * `HOLE`, and a literal within one is a text of its own. Comments, quoted texts and patterns may hold backticks.
 *
 * @throws Error when a literal does not end: then the source was misread
 */
export function templateTexts(source: string): string[] {
  const texts: string[] = [];
  const code = (start: number, ends: string): number => {
    let depth = 0;
    for (let at = start; at < source.length; at += 1) {
      const sign = source[at]!;
      if (sign === ends && depth === 0) return at;
      if (sign === '{') depth += 1;
      else if (sign === '}') depth -= 1;
      else if (sign === '`') at = template(at + 1);
      else if (sign === "'" || sign === '"') at = quoted(at + 1, sign);
      else if (sign === '/') at = slash(at);
    }
    if (ends) throw new Error(`an interpolation at ${start} does not end`);
    return source.length;
  };
  const template = (start: number): number => {
    let text = '';
    for (let at = start; at < source.length; at += 1) {
      if (source[at] === '`') {
        texts.push(text);
        return at;
      }
      if (source[at] === '\\') text += source[at++];
      else if (source.startsWith('${', at)) {
        at = code(at + 2, '}');
        text += HOLE;
        continue;
      }
      text += source[at];
    }
    throw new Error(`a template literal at ${start} does not end`);
  };
  const quoted = (start: number, sign: string): number => {
    let at = start;
    for (; source[at] !== sign; at += 1) {
      if (at >= source.length || source[at] === '\n') throw new Error(`a quoted text at ${start} does not end`);
      if (source[at] === '\\') at += 1;
    }
    return at;
  };
  const slash = (start: number): number => {
    if (source[start + 1] === '/') return endOf('\n', start);
    if (source[start + 1] === '*') return endOf('*/', start + 2) + 1;
    if (!MAY_PRECEDE_A_PATTERN.test(source.slice(Math.max(0, start - 40), start))) return start;
    let isClass = false;
    let at = start + 1;
    for (; source[at] !== '/' || isClass; at += 1) {
      if (at >= source.length || source[at] === '\n') throw new Error(`a pattern at ${start} does not end`);
      if (source[at] === '\\') at += 1;
      else if (source[at] === '[') isClass = true;
      else if (source[at] === ']') isClass = false;
    }
    return at;
  };
  const endOf = (words: string, from: number): number => {
    const at = source.indexOf(words, from);
    return at < 0 ? source.length : at;
  };
  code(0, '');
  return texts;
}
