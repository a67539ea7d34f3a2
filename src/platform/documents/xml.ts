import { create } from 'xmlbuilder2';
import { printable } from './characters.ts';

/** An element by name: text, attributes under `@name`, children; a list repeats the element. */
export interface XmlElement {
  [name: string]: string | XmlElement | readonly XmlElement[] | undefined;
}

/**
 * UTF-8 text of a document with one root element; elements that are undefined are left out, and characters that XML
 * cannot hold.
 */
export const xmlText = (root: XmlElement): Uint8Array =>
  Buffer.from(create({ version: '1.0', encoding: 'UTF-8' }, pruned(root)).end({ prettyPrint: true }), 'utf8');

// The library writes an empty element for a key without value.
function pruned(element: XmlElement): object {
  const entries = Object.entries(element).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      Array.isArray(value)
        ? value.map(pruned)
        : typeof value === 'string'
          ? printable(value)
          : pruned(value as XmlElement),
    ]),
  );
}
