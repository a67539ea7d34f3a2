// Copies the scenarios named in passing.txt from a folder of scenarios into another folder: node select.mjs FROM TO
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [from, to] = process.argv.slice(2);
const list = readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'passing.txt'), 'utf8');
const named = new Map();
for (const line of list.split('\n')) {
  const match = /^(?<file>[^#:]+\.json): (?<name>.+)$/.exec(line);
  if (match) named.set(match.groups.file, [...(named.get(match.groups.file) ?? []), match.groups.name]);
}
for (const [file, names] of named) {
  const scenarios = [JSON.parse(readFileSync(join(from, file), 'utf8'))].flat();
  const chosen = names.map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name);
    if (!found) throw new Error(`${file} has no scenario named "${name}"`);
    return found;
  });
  mkdirSync(join(to, dirname(file)), { recursive: true });
  writeFileSync(join(to, file), JSON.stringify(chosen));
}
