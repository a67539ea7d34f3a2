import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { writtenXml } from '../../../../src/areas/documents/render-documents/e-documents/written.ts';
import { PROFILES, type Profile } from '../../../../src/engine/e-documents/profiles.ts';
import { documentOf, oddDocumentOf } from './numbered-documents.ts';

/** Documents that are written: invoices and notes of every category in every profile, half of them with odd data. */
const DOCUMENTS = 840;
/** Failures of one artefact that are printed; the others are counted. */
const SHOWN = 5;

interface Sample {
  file: string;
  profile: Profile;
  /** The name of its outermost element. */
  root: string;
}

/** A schema, or rules that were compiled to XSLT, with the documents that it is about. */
interface Artefact {
  path: string;
  tool: 'xmllint' | 'xslt3';
  isAbout(sample: Sample): boolean;
}

const isUbl = ({ profile }: Sample): boolean => profile === 'peppol_bis3' || profile.endsWith('_ubl');

/** The rules that a file holds, by its name as the authorities give it. */
const RULES: readonly [name: RegExp, isAbout: Artefact['isAbout']][] = [
  [/peppol.*\.xslt?$/i, ({ profile }) => profile === 'peppol_bis3'],
  [/xrechnung.*ubl.*\.xslt?$/i, ({ profile }) => profile === 'xrechnung_ubl'],
  [/xrechnung.*cii.*\.xslt?$/i, ({ profile }) => profile === 'xrechnung_cii'],
  [/en16931.*ubl.*\.xslt?$/i, isUbl],
  [/en16931.*cii.*\.xslt?$/i, (sample) => !isUbl(sample)],
];

/** The schema of a root element; of Factur-X's the one for the profile that we write. */
const SCHEMAS: readonly [name: RegExp, root: string][] = [
  [/UBL-Invoice-2\.\d\.xsd$/, 'Invoice'],
  [/UBL-CreditNote-2\.\d\.xsd$/, 'CreditNote'],
  [/(CrossIndustryInvoice_100p?D\w+|Factur-X_[\d.]+_EN16931)\.xsd$/, 'rsm:CrossIndustryInvoice'],
];

function artefactOf(path: string): Artefact | undefined {
  const name = basename(path);
  const schema = SCHEMAS.find(([pattern]) => pattern.test(name));
  if (schema) return { path, tool: 'xmllint', isAbout: ({ root }) => root === schema[1] };
  const rules = RULES.find(([pattern]) => pattern.test(name));
  return rules && { path, tool: 'xslt3', isAbout: rules[1] };
}

function writeSamples(folder: string): Sample[] {
  return Array.from({ length: DOCUMENTS }, (_, number) => {
    const facts = number % 2 === 0 ? documentOf(number / 2) : oddDocumentOf((number - 1) / 2);
    const xml = Buffer.from(writtenXml(facts)).toString();
    const file = join(folder, `${facts.profile}-${facts.kind}-${number}.xml`);
    writeFileSync(file, xml);
    return { file, profile: facts.profile, root: /<([\w:]+)[ >]/.exec(xml)![1]! };
  });
}

/** What is wrong in a document by an artefact, a line each; none if it follows it. */
function faultsOf({ path, tool }: Artefact, { file }: Sample): string[] {
  const args = tool === 'xmllint' ? ['--noout', '--nonet', '--schema', path, file] : [`-xsl:${path}`, `-s:${file}`];
  const { status, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8' });
  if (tool === 'xmllint') return status === 0 ? [] : stderr.trim().split('\n').slice(0, SHOWN);
  if (status !== 0) return [`the rules could not be run: ${stderr.trim().slice(0, 200)}`];
  const failed = [...stdout.matchAll(/<svrl:failed-assert[\s\S]*?<\/svrl:failed-assert>/g)].map(([text]) => text);
  return failed
    .filter((text) => !/flag="(warning|information)"/.test(text))
    .map((text) => / id="([^"]*)"/.exec(text)?.[1] ?? text);
}

const isThere = (tool: string): boolean => spawnSync(tool, ['--version']).error === undefined;

/** Checks the documents by one artefact and prints what it found. @returns how many are wrong */
function check(artefact: Artefact, samples: readonly Sample[]): number {
  const about = samples.filter(artefact.isAbout);
  const name = basename(artefact.path);
  if (!isThere(artefact.tool)) {
    console.log(`skipped ${name}: ${artefact.tool} is not installed`);
    return 0;
  }
  const wrong = about
    .map((sample) => ({ sample, faults: faultsOf(artefact, sample) }))
    .filter(({ faults }) => faults.length > 0);
  console.log(`${name}: ${about.length - wrong.length} of ${about.length} documents follow it`);
  for (const { sample, faults } of wrong.slice(0, SHOWN))
    console.log(`  ${basename(sample.file)}: ${faults.join('; ')}`);
  return wrong.length;
}

const program = new Command('check:documents')
  .description(
    'Hold electronic documents of all kinds against the schemas and rules of the authorities that are at hand.',
  )
  .requiredOption('--artefacts <folder>', 'with XSD of UBL and CII, and rules compiled to XSLT, at any depth')
  .parse();

const folder = mkdtempSync(join(tmpdir(), 'check-documents-'));
try {
  const { artefacts: from } = program.opts<{ artefacts: string }>();
  const artefacts = readdirSync(from, { recursive: true, encoding: 'utf8' })
    .map((path) => artefactOf(join(from, path)))
    .filter((artefact) => artefact !== undefined);
  const samples = writeSamples(folder);
  const wrong = artefacts.reduce((sum, artefact) => sum + check(artefact, samples), 0);
  for (const profile of PROFILES) {
    const [sample] = samples.filter((each) => each.profile === profile);
    const isChecked = artefacts.some((artefact) => isThere(artefact.tool) && artefact.isAbout(sample!));
    if (!isChecked) console.log(`skipped ${profile}: nothing in the folder is about it`);
  }
  if (wrong > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
