#!/usr/bin/env node
// One command of src/commands: from the sources where their loader is installed, which is a development dependency,
// else from what `npm run build` left in dist/.
//
//   node bin/meterstone.mjs org create --name Acme
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const COMMANDS = ['start', 'migrate', 'org', 'cells', 'secrets', 'prices', 'ai', 'documents', 'events', 'dead-letters', 'doctor', 'health', 'scenario', 'demo', 'provider-check'];
const [name, ...rest] = process.argv.slice(2);

const USAGE = `usage: meterstone ${COMMANDS.join(' | ')} [options]; --help after a command says what it does`;
if (['--help', '-h', 'help'].includes(name)) {
  console.log(USAGE);
  process.exit(0);
}
if (!COMMANDS.includes(name)) {
  console.error(USAGE);
  process.exit(2);
}
const source = new URL(`../src/commands/${name}.ts`, import.meta.url);
const built = new URL(`../dist/src/commands/${name}.js`, import.meta.url);
const loader = existsSync(source) ? await import('tsx/esm/api').catch(() => undefined) : undefined;
if (loader === undefined && !existsSync(built)) {
  console.error('meterstone: nothing is built here, and development dependencies are not installed: npm install --include=dev');
  process.exit(1);
}
loader?.register();
const file = loader ? source : built;
process.argv = [process.argv[0], fileURLToPath(file), ...rest];
await import(file.href);
