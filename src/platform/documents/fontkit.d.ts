// What is used of fontkit, which brings no types.
declare module 'fontkit' {
  export interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean;
  }
  /** @throws when the file is no font */
  export function openSync(file: string): Font;
}
