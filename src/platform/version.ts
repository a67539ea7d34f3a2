import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './project-root.ts';

let read: string | undefined;

/** Version of the service that runs, as package.json had it when it was first asked for. */
export function version(): string {
  read ??= (JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as { version: string }).version;
  return read;
}
