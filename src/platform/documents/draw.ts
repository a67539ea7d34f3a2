import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pdfmake from 'pdfmake';
import { definitionOf } from './definition.ts';
import type { DocumentModel } from './model.ts';

const FONT_FOLDER = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf');
const MAIN = {
  normal: join(FONT_FOLDER, 'DejaVuSansCondensed.ttf'),
  bold: join(FONT_FOLDER, 'DejaVuSansCondensed-Bold.ttf'),
};

/**
 * The PDF of a document; without its logo when that is no picture after all. Nothing outside is fetched: no addresses, no files but the fonts.
 *
 * @param fallbackFont path of a font for scripts that the main one lacks
 */
export async function draw(model: DocumentModel, fallbackFont: string | null): Promise<Uint8Array> {
  pdfmake.setFonts({ main: MAIN, fallback: { normal: fallbackFont ?? MAIN.normal, bold: fallbackFont ?? MAIN.bold } });
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => path === MAIN.normal || path === MAIN.bold || path === fallbackFont);
  const drawn = (logo: string | null) =>
    pdfmake.createPdf(definitionOf({ ...model, logo }, fallbackFont === null ? null : 'fallback')).getBuffer();
  if (model.logo === null) return drawn(null);
  try {
    return await drawn(model.logo);
  } catch {
    // Only the type of a logo was checked when it was stored; what else is wrong with the model fails here once more.
    return drawn(null);
  }
}
