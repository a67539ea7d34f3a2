import pdfmake from 'pdfmake';
import { type DocumentFonts, fontsFor } from './fonts.ts';
import type { DocumentModel } from './model.ts';
import { definitionOf } from './page-layout.ts';

export interface Drawn {
  bytes: Uint8Array;
  /** Characters without a font, as one text; they are printed as empty boxes. */
  missing: string;
}

/**
 * The PDF of a document, without its logo if that is not an image. Nothing is fetched from addresses or files except
 * the fonts, and only used glyphs are embedded.
 *
 * @param ownFont path of a font that goes before the built-in ones for Chinese, Japanese and Korean
 */
export async function draw(model: DocumentModel, ownFont: string | null): Promise<Drawn> {
  const fonts = fontsFor(JSON.stringify({ ...model, logo: null }), ownFont);
  const bytes = await drawIn(fonts, model);
  return { bytes, missing: [...fonts.missing].join('') };
}

async function drawIn(fonts: DocumentFonts, model: DocumentModel): Promise<Uint8Array> {
  const files = new Set(Object.values(fonts.files).flatMap(({ normal, bold }) => [normal, bold]));
  pdfmake.setFonts(fonts.files);
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => files.has(path));
  const drawn = (logo: string | null) => pdfmake.createPdf(definitionOf({ ...model, logo }, fonts)).getBuffer();
  if (model.logo === null) return drawn(null);
  try {
    return await drawn(model.logo);
  } catch {
    // Only the type of a logo was checked when it was stored; any other fault of the model fails here again.
    return drawn(null);
  }
}
