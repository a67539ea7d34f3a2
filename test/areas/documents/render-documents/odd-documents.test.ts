import { expect, test } from 'vitest';
import { writtenXml } from '../../../../src/areas/documents/render-documents/e-documents/written.ts';
import { problemsOf } from '../../../../src/engine/e-documents/rules.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { oddDocumentOf } from './numbered-documents.ts';
import { brokenSums, readDocument } from './read-document.ts';

/** In every run as many as hold the one with a thousand lines, and each pair of a text and a profile. */
const DOCUMENTS = inLongRun(500, 260);

test('documents with odd data are well formed, break no rule, and add up when computed from their text', () => {
  for (let number = 0; number < DOCUMENTS; number += 1) {
    const facts = oddDocumentOf(number);
    expect(problemsOf(facts), `document ${number}`).toEqual([]);
    const xml = Buffer.from(writtenXml(facts)).toString();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no XML file may hold
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])/);
    const read = readDocument(xml, facts.profile);
    expect(read.lines).toHaveLength(facts.lines.length);
    expect(brokenSums(read, facts.currency === 'JPY' ? 100n : 1n), `document ${number}`).toEqual([]);
  }
});

test('a cent that is missing is found', () => {
  const facts = oddDocumentOf(7);
  const read = readDocument(Buffer.from(writtenXml(facts)).toString(), facts.profile);
  read.lines[0]!.amount += 1n;
  expect(brokenSums(read, 1n)).toEqual(['BR-CO-10', `BR-${facts.lines[0]!.category}-08`]);
});
