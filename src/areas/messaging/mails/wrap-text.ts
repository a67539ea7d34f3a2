/** Lines of a mail's text part stay below the width at which readers and servers break them (RFC 5322, 2.1.1). */
const LINE_LETTERS = 76;

/**
 * Breaks lines at spaces, or within a longer word, so that none has more than 76 characters; a link stays whole.
 */
export const wrapText = (text: string): string => text.split('\n').map(wrapLine).join('\n');

function wrapLine(line: string): string {
  if (line.length <= LINE_LETTERS) return line;
  // The rest of an item of a list stands below its words, not below its dash.
  const indent = line.startsWith('- ') ? '  ' : '';
  const lines: string[] = [];
  let last = '';
  for (const word of line.split(' ').flatMap(piecesOf)) {
    const longer = last === '' ? word : `${last} ${word}`;
    if (longer.length <= LINE_LETTERS || last.trim() === '') last = longer;
    else {
      lines.push(last);
      last = `${indent}${word}`;
    }
  }
  return [...lines, last].join('\n');
}

/** Pieces of a word that fit; languages without spaces have such words. A link is none, nor the mark of one. */
const piecesOf = (word: string): string[] =>
  word.length <= LINE_LETTERS || word.includes('://') || word.includes('\uE000') ? [word] : [...chunksOf([...word])];

function* chunksOf(letters: readonly string[]): Generator<string> {
  const most = LINE_LETTERS / 2;
  for (let at = 0; at < letters.length; at += most) yield letters.slice(at, at + most).join('');
}
