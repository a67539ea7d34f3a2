import type { DocumentFacts } from '../../../../engine/e-documents/facts.ts';
import { profileFacts } from '../../../../engine/e-documents/profiles.ts';
import { xmlText } from '../../../../platform/documents/xml.ts';
import { ciiOf } from './cii.ts';
import { ublOf } from './ubl.ts';

/** The XML of a document in the syntax of its profile. */
export const writtenXml = (facts: DocumentFacts): Uint8Array =>
  xmlText(profileFacts[facts.profile].syntax === 'cii' ? ciiOf(facts) : ublOf(facts));
