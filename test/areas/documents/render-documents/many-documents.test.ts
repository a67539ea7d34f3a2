import { expect, test } from 'vitest';
import { writtenXml } from '../../../../src/areas/documents/render-documents/e-documents/written.ts';
import { problemsOf } from '../../../../src/engine/e-documents/rules.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { documentOf } from './numbered-documents.ts';

const DOCUMENTS = inLongRun(5000, 500);

// Figure F5 of docs/rules/e-documents.md.
test('many documents of all categories, rates, notes and profiles follow the rules and are written', () => {
  for (let number = 0; number < DOCUMENTS; number += 1) {
    const facts = documentOf(number);
    expect(problemsOf(facts), `document ${number}`).toEqual([]);
    const xml = Buffer.from(writtenXml(facts)).toString();
    expect(xml).toContain(`MUS-${number}<`);
    expect(xml.trimEnd().endsWith('>')).toBe(true);
  }
});
