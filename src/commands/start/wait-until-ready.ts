import { get } from 'node:http';
import { waitUntil } from '../../platform/services/processes.ts';
import type { Children } from './supervise-children.ts';

const READY_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 100;
const ANSWER_WITHIN_MS = 5_000;

/**
 * Waits until the ingress reports that the whole service works: Postgres, Redis, and every pool has finished a job.
 *
 * @returns false when `stop` was aborted before
 * @throws Error with the last log lines of a process that does not start, or with the parts that are not ready
 */
export async function waitUntilReady(url: string, children: Children, stop: AbortSignal): Promise<boolean> {
  let lastAnswer = 'no answer';
  let despair: string | undefined;
  const isAnswered = async () => {
    despair = await children.despair();
    if (stop.aborted || despair !== undefined) return true;
    const { status, text } = await ask(url);
    lastAnswer = text;
    return status === 200;
  };
  const isDone = await waitUntil(isAnswered, READY_WITHIN_MS, ASK_EVERY_MS);
  if (despair !== undefined) throw new Error(despair);
  if (!isDone) throw new Error(`not ready after ${READY_WITHIN_MS / 1000} s: ${lastAnswer}`);
  return !stop.aborted;
}

/** Uses Node's plain client, because fetch would load a second HTTP stack into this small process. */
function ask(url: string): Promise<{ status?: number; text: string }> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: ANSWER_WITHIN_MS, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', (error) => resolve({ text: error.message }));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    request.on('timeout', () => request.destroy(new Error('the ingress does not answer')));
    request.on('error', (error) => resolve({ text: error.message }));
  });
}
