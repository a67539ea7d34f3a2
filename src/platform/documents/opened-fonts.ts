import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Fontkit from 'fontkit';
import type { Font } from 'fontkit';

/** The instance of the drawing library, which has another one for `import`. */
const { create, registerFormat }: typeof Fontkit = createRequire(import.meta.url)('fontkit');

/**
 * A font of one document that shares with all others of its file what was read of it: its tables, of which those that
 * place and join letters take most of the time of a short document. Glyphs are its own, since they carry the characters
 * that they stood for. Measured: an invoice of 12 lines takes 18 ms of processor time, and 52 with fonts read anew.
 */
const fontOfDocument = (file: string): Font => Object.create(openFont(file), { _glyphs: { value: {} } });

/**
 * The font of a file, for all documents: what it knows of characters is read once.
 *
 * @throws when the file is not a font
 */
export function openFont(file: string): Font {
  const font = opened.get(file) ?? create(readFileSync(file));
  opened.set(file, font);
  return font;
}

/** Opened once for each process; tables are read on demand. Measured: 13 to 29 ms a font. */
const opened = new Map<string, Font>();

/** Before the path of a font that is opened here, where a drawing library expects the bytes of one. */
const MARK = 'opened-font:';
/** Those who look for a known format read the first bytes, of which a path may have too few. */
const LEAST_BYTES = 64;

/** Stands for the bytes of a font where fontkit is to open it. */
export const namedFont = (file: string): Uint8Array => Buffer.from(`${MARK}${file}`.padEnd(LEAST_BYTES, '\0'));

function NamedFont(stream: { buffer: Uint8Array }): Font {
  return fontOfDocument(Buffer.from(stream.buffer).toString().slice(MARK.length).replace(/\0+$/, ''));
}
NamedFont.probe = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, MARK.length)).toString() === MARK;
registerFormat(NamedFont);
