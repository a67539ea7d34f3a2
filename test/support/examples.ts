import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';

/** One ```sh block of a page, and the JSON of the ```json block right behind it: what its last answer contains. */
interface Example {
  commands: string;
  /** The line on which the block begins, for messages. */
  line: number;
  answer?: unknown;
}

export interface Place {
  /** What the page's `API=…` and `KEY=…` lines stand for. */
  api: string;
  key: string;
  /** Where the commands run. */
  folder: string;
  /** Lines to run before the page's own. */
  prelude?: string;
}

const FENCE = /^```(sh|json)\n([\s\S]*?)\n```$/gm;
/** In JSON of a page: any value. */
const ANY = '…';
const MARK = '@@example';

/** The examples of a page, in order. A JSON block that does not follow a block of commands only describes. */
export function examplesOf(markdown: string): Example[] {
  const examples: Example[] = [];
  let end = -1;
  for (const found of markdown.matchAll(FENCE)) {
    const between = markdown.slice(end, found.index);
    if (found[1] === 'sh') {
      examples.push({ commands: found[2]!, line: markdown.slice(0, found.index).split('\n').length });
      end = found.index + found[0].length;
    } else if (end >= 0 && !/^(#|```)/m.test(between)) {
      examples.at(-1)!.answer = JSON.parse(found[2]!);
      end = -1;
    }
  }
  return examples;
}

/**
 * Runs the commands of a page in one shell, as a person would paste them, and fails on a command that fails, on an
 * answer that refuses and is not shown as one, and on an answer that differs from the JSON shown.
 *
 * @returns what each block printed
 */
export async function runExamples(examples: readonly Example[], { api, key, folder, prelude = '' }: Place) {
  const script = [
    'set -eo pipefail',
    prelude,
    ...examples.flatMap(({ commands }, index) => [
      `echo; echo '${MARK} ${index}'`,
      commands.replace(/^API=http:\S+$/m, `API=${api}`).replace(/^KEY=\.\.\.$/m, `KEY=${key}`),
    ]),
  ].join('\n');
  const { printed, code } = await runInShell(script, folder);
  const outputs = printed.split(new RegExp(`^${MARK} \\d+$`, 'm')).slice(1);
  for (const [index, { line, answer }] of examples.entries()) {
    const output = outputs[index];
    expect(output, `no output: the example on line ${line} was not reached\n${printed.slice(-2000)}`).toBeDefined();
    const answers = output!.split('\n').flatMap(parsed);
    const refused = answers.filter(({ status }) => typeof status === 'number' && status >= 400);
    if (!isRefusal(answer)) expect(refused, `example on line ${line}`).toEqual([]);
    if (answer !== undefined) expect(answers.at(-1), `example on line ${line}`).toMatchObject(pattern(answer));
  }
  expect(code, printed.slice(-2000)).toBe(0);
  return outputs;
}

async function runInShell(script: string, folder: string): Promise<{ printed: string; code: number | null }> {
  const shell = spawn('bash', ['-c', script], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  const [code] = (await once(shell, 'close')) as [number | null];
  return { printed, code };
}

/** Answers are one line each. */
function parsed(line: string): Record<string, unknown>[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

const isRefusal = (answer: unknown): boolean =>
  typeof (answer as { status?: unknown } | undefined)?.status === 'number' && 'error' in (answer as object);

/** The shown JSON, in which `…` stands for any value that is there. */
function pattern(shown: unknown): never {
  if (shown === ANY) return expect.anything() as never;
  if (Array.isArray(shown)) return shown.map(pattern) as never;
  if (shown !== null && typeof shown === 'object')
    return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, pattern(value)])) as never;
  return shown as never;
}
