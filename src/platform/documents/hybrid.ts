/** Name under which readers of Factur-X look for the XML. */
const FILE_NAME = 'factur-x.xml';
const DESCRIPTION = 'Factur-X invoice data';

/** What the drawing library offers of a document that is still open. */
export interface OpenPdf {
  file(content: Buffer, options: Record<string, unknown>): void;
  appendXML(xml: string): void;
}

/** PDF/A-3, level B: the archive format that may carry files of any kind. */
export const HYBRID_SUBSET = 'PDF/A-3b';

/**
 * Says that the XML is an alternative form of the page, and names it in the metadata. Rule: e-documents.md#profiles.
 */
export function attachXml(pdf: OpenPdf, xml: Uint8Array, at: Date): void {
  pdf.file(Buffer.from(xml), {
    name: FILE_NAME,
    type: 'text/xml',
    description: DESCRIPTION,
    relationship: 'Alternative',
    creationDate: at,
    modifiedDate: at,
  });
  pdf.appendXML(FACTUR_X_SCHEMA);
  pdf.appendXML(FACTUR_X);
}

/** A title that stands in metadata as it is: these signs are not escaped there. */
export const metadataTitle = (title: string): string => title.replace(/[<>&]/g, ' ');

const PROPERTIES = [
  ['DocumentFileName', 'name of the embedded XML invoice file'],
  ['DocumentType', 'INVOICE'],
  ['Version', 'version of the XML schema of the embedded XML invoice file'],
  ['ConformanceLevel', 'conformance level of the embedded XML invoice file'],
] as const;

const FACTUR_X_NAMESPACE = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

/** PDF/A wants every property that it does not know to be described. */
const FACTUR_X_SCHEMA = `
  <rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
    xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
    <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
      <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
      <pdfaSchema:namespaceURI>${FACTUR_X_NAMESPACE}</pdfaSchema:namespaceURI>
      <pdfaSchema:prefix>fx</pdfaSchema:prefix>
      <pdfaSchema:property><rdf:Seq>${PROPERTIES.map(
        ([name, description]) => `
        <rdf:li rdf:parseType="Resource">
          <pdfaProperty:name>${name}</pdfaProperty:name>
          <pdfaProperty:valueType>Text</pdfaProperty:valueType>
          <pdfaProperty:category>external</pdfaProperty:category>
          <pdfaProperty:description>${description}</pdfaProperty:description>
        </rdf:li>`,
      ).join('')}
      </rdf:Seq></pdfaSchema:property>
    </rdf:li></rdf:Bag></pdfaExtension:schemas>
  </rdf:Description>`;

const FACTUR_X = `
  <rdf:Description rdf:about="" xmlns:fx="${FACTUR_X_NAMESPACE}">
    <fx:DocumentType>INVOICE</fx:DocumentType>
    <fx:DocumentFileName>${FILE_NAME}</fx:DocumentFileName>
    <fx:Version>1.0</fx:Version>
    <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
  </rdf:Description>`;
