import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../platform/project-root.ts';

let read: Readonly<Record<string, object>> | undefined;

/**
 * What a running service has answered to the examples of bodies, by operation; `test/contract/examples.test.ts` writes
 * and checks them. None in a deployment without `docs`, whose description was made by the build.
 */
export function answerExamples(): Readonly<Record<string, object>> {
  const file = join(projectRoot(), 'docs/examples/answers.json');
  read ??= existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>) : {};
  return read;
}
