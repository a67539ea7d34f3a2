import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Why a file of settings cannot be read, in words for an operator. */
export class UnreadableFile extends Error {}

/**
 * What a file in YAML or JSON says.
 *
 * @throws UnreadableFile that names the line, and nothing that stands in it, since it may be a secret
 */
export function readSettingsFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UnreadableFile(`it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    return parse(text);
  } catch (error) {
    const { linePos } = error as { linePos?: { line: number }[] };
    throw new UnreadableFile(`it is no YAML or JSON${linePos?.[0] ? `, line ${linePos[0].line}` : ''}`);
  }
}
