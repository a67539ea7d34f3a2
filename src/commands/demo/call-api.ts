import { setTimeout as sleep } from 'node:timers/promises';
import { fromWire, toWire } from '../../platform/wire-prefix.ts';

/**
 * Calls the API as any client would, whatever its wire prefix; it waits after a 429, and any other answer than 200 ends
 * the demo.
 */
export function createApi({ baseUrl, apiKey, wirePrefix }: { baseUrl: string; apiKey: string; wirePrefix: string }) {
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  return async function call(method: string, path: string, body?: unknown): Promise<any> {
    for (;;) {
      const answer = await fetch(baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(toWire(body, wirePrefix)) }),
      });
      if (answer.status === 429) {
        await answer.arrayBuffer();
        await sleep(1000 * Number(answer.headers.get('retry-after') ?? 1));
        continue;
      }
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
      return fromWire(JSON.parse(text), wirePrefix);
    }
  };
}

export type Api = ReturnType<typeof createApi>;

/** Moves the organization's test clock and waits until everything that fell due is done. */
export async function advanceClock(api: Api, to: string): Promise<void> {
  await api('POST', '/test_clock/advance', { test_clock: { frozen_time: to } });
  for (;;) {
    const { test_clock: clock } = await api('GET', '/test_clock');
    if (clock.status === 'ready') return;
    if (clock.status === 'failed') throw new Error(`the test clock failed: ${JSON.stringify(clock.error)}`);
    await sleep(100);
  }
}
