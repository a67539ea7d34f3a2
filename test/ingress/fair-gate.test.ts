import { expect, test } from 'vitest';
import { FairGate } from '../../src/ingress/fair-gate.ts';

/** Works that end when told; `begun` is the order in which they began. */
function works(gate: FairGate) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (key: string, name: string, signal?: AbortSignal) =>
    gate.run(
      key,
      () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
      signal,
    );
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, start, end };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('each key of a fair gate runs as many tasks as it may, and the others wait for their turn', async () => {
  const { begun, start, end } = works(new FairGate({ perKey: 2, waitingPerKey: 10 }));
  const all = ['a1', 'a2', 'a3'].map((name) => start('a', name));
  void start('b', 'b1');
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  await end('a2');
  await end('a3');
  await Promise.all(all);
});

test('keys that wait at a fair gate take turns', async () => {
  const { begun, start, end } = works(new FairGate({ perKey: 5, atOnce: 1, waitingPerKey: 10 }));
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void start(name[0]!, name);
  await turn();
  for (const name of ['a1', 'b1', 'a2', 'b2', 'a3']) {
    expect(begun.at(-1)).toBe(name);
    await end(name);
  }
});

test('a fair gate refuses a task when too many of its key wait, and not those of another key', async () => {
  const { begun, start, end } = works(new FairGate({ perKey: 1, waitingPerKey: 1 }));
  void start('a', 'a1');
  void start('a', 'a2');
  await expect(start('a', 'a3')).rejects.toMatchObject({ status: 503 });
  void start('b', 'b1');
  await turn();
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});

test('a task that is given up while it waits never runs, and one that failed frees its place', async () => {
  const gate = new FairGate({ perKey: 1, waitingPerKey: 5 });
  const { begun, start, end } = works(gate);
  const leaving = new AbortController();
  void start('a', 'a1');
  const left = start('a', 'a2', leaving.signal);
  const stays = start('a', 'a3');
  leaving.abort();
  await expect(left).rejects.toMatchObject({ status: 503 });
  await end('a1');
  expect(begun).toEqual(['a1', 'a3']);
  await end('a3');
  await stays;
  await expect(gate.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await gate.run('a', async () => 'next')).toBe('next');
});
