// Characters that XML 1.0 cannot hold and no font has a glyph for: control characters, halves of surrogate pairs,
// U+FFFE and U+FFFF.
const UNPRINTABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** A text without the characters that documents cannot hold, because a receiver would refuse the whole document. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '');
