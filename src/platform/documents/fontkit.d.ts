// The part of fontkit that is used; it has no types of its own.
declare module 'fontkit' {
  export interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean;
  }
  /** @throws when the file is not a font */
  export function openSync(file: string): Font;
}
