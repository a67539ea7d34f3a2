#!/usr/bin/env node
// One command of src/commands: from the sources where their loader is installed, which is a development dependency, else
// from what `npm run build` left in dist/.
//
//   node bin/meterstone.mjs org create --name Acme
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const COMMANDS = ['start', 'migrate', 'org', 'secrets', 'doctor', 'health', 'scenario'];
const [name, ...rest] = process.argv.slice(2);

if (!COMMANDS.includes(name)) {
  console.error(`usage: meterstone ${COMMANDS.join(' | ')} [options]`);
  process.exit(2);
}
const source = new URL(`../src/commands/${name}.ts`, import.meta.url);
const built = new URL(`../dist/src/commands/${name}.js`, import.meta.url);
const loader = existsSync(source) ? await import('tsx/esm/api').catch(() => undefined) : undefined;
if (loader === undefined && !existsSync(built)) {
  console.error('meterstone: nothing is built here: npm run build, with development dependencies');
  process.exit(1);
}
loader?.register();
const file = loader ? source : built;
process.argv = [process.argv[0], fileURLToPath(file), ...rest];
await import(file.href);
