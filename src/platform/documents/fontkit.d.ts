// The part of fontkit that is used; it has no types of its own.
declare module 'fontkit' {
  export interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean;
  }
  /** @throws when these are not the bytes of a font */
  export function create(bytes: Uint8Array): Font;
  /** Adds a kind of font, asked last whether it knows some bytes; it is called with `new` and returns the font. */
  export function registerFormat(
    format: ((stream: { buffer: Uint8Array }) => Font) & { probe(bytes: Uint8Array): boolean },
  ): void;
}
