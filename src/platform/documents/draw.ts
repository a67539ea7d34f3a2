import pdfmake from 'pdfmake';
import type { TDocumentDefinitions } from 'pdfmake/interfaces.js';
import { type DocumentFonts, fontsFor } from './fonts.ts';
import { attachXml, HYBRID_SUBSET, metadataTitle, type OpenPdf } from './hybrid.ts';
import type { DocumentModel } from './model.ts';
import { namedFont } from './opened-fonts.ts';
import { layoutOf } from './page-layout.ts';

/** The version of PDF on which PDF/A-3 is based. */
const HYBRID_VERSION = '1.7';

/** Files of the drawing library that it reads before those of the machine; its types lack them. */
const { virtualfs } = pdfmake as unknown as { virtualfs: { writeFileSync(path: string, bytes: Uint8Array): void } };

export interface Drawn {
  bytes: Uint8Array;
  /** Characters without a font, as one text; they are printed as empty boxes. */
  missing: string;
}

/**
 * The PDF of a document, without its logo if that is not an image. Nothing is fetched from addresses or files except
 * the fonts, and only used glyphs are embedded.
 *
 * @param xml the same document for software: the PDF then is PDF/A-3 and carries it (Factur-X)
 * @param ownFont path of a font that goes before the built-in ones for Chinese, Japanese and Korean
 */
export async function draw(
  model: DocumentModel,
  ownFont: string | null,
  xml: Uint8Array | null = null,
): Promise<Drawn> {
  const fonts = fontsFor(JSON.stringify({ ...model, logo: null }), ownFont);
  const bytes = await drawIn(fonts, model, xml);
  return { bytes, missing: [...fonts.missing].join('') };
}

async function drawIn(fonts: DocumentFonts, model: DocumentModel, xml: Uint8Array | null): Promise<Uint8Array> {
  const files = new Set(Object.values(fonts.files).flatMap(({ normal, bold }) => [normal, bold]));
  pdfmake.setFonts(fonts.files);
  for (const file of files) virtualfs.writeFileSync(file, namedFont(file));
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => files.has(path));
  const inked = (definition: TDocumentDefinitions) =>
    xml === null ? pdfmake.createPdf(definition).getBuffer() : drawHybrid(definition, xml);
  const drawn = async (logo: string | null) => {
    const layout = layoutOf({ ...model, logo }, fonts);
    const bytes = await inked(layout.definition);
    if (!layout.isEndApart()) return bytes;
    return inked(layoutOf({ ...model, logo }, fonts, { hasHeadAtEnd: true }).definition);
  };
  if (model.logo === null) return drawn(null);
  try {
    return await drawn(model.logo);
  } catch {
    // Only the type of a logo was checked when it was stored; any other fault of the model fails here again.
    return drawn(null);
  }
}

/** The definition as PDF/A-3 with the XML attached: both go in after the pages, before the file is closed. */
async function drawHybrid(definition: TDocumentDefinitions, xml: Uint8Array): Promise<Uint8Array> {
  const made = pdfmake.createPdf({
    ...definition,
    info: { ...definition.info, title: metadataTitle(definition.info?.title ?? '') },
    version: HYBRID_VERSION,
    subset: HYBRID_SUBSET,
  } as TDocumentDefinitions);
  const pdf = (await made.getStream()) as unknown as OpenPdf & { info: { CreationDate: Date } };
  attachXml(pdf, xml, pdf.info.CreationDate);
  return made.getBuffer();
}
