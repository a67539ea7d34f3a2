import { afterEach, expect, test, vi } from 'vitest';
import { HeavyReads } from '../../src/ingress/heavy-reads.ts';

// everywhere.md#bounded-cost: one organization that reads the usage of large plans all the time has one such read at
// once.

const settled = () => new Promise((resolve) => setImmediate(resolve));
const weighing = (weight: number) => async () => weight;

/** Requests of some organizations: `admitted` names those that may compute, in order, `refused` those that may not. */
function requests(heavy: HeavyReads) {
  const admitted: string[] = [];
  const refused: string[] = [];
  const answers = new Map<string, AbortController>();
  return {
    admitted,
    refused,
    ask(name: string, weight: number, { organization = 'a', subject = name } = {}) {
      const answer = new AbortController();
      answers.set(name, answer);
      const work = heavy.of(organization, answer.signal);
      void work.admit(subject, weighing(weight)).then(
        () => admitted.push(name),
        (error: { status: number }) => refused.push(`${name} ${error.status}`),
      );
      return work;
    },
    async answer(name: string) {
      answers.get(name)!.abort();
      await settled();
    },
  };
}

afterEach(() => vi.useRealTimers());

test('an organization has one heavy read at once until its answer is written, while light ones and other organizations go on', async () => {
  const { admitted, ask, answer } = requests(new HeavyReads());
  for (const name of ['first', 'second', 'third']) ask(name, 500);
  ask('light', 100);
  ask('other', 500, { organization: 'b' });
  await settled();
  expect(admitted.toSorted()).toEqual(['first', 'light', 'other']);
  await answer('second'); // its caller is gone
  await answer('first');
  expect(admitted.at(-1)).toBe('third');
});

test('behind twenty waiting reads a heavy read is refused with 503 and a light one is not', async () => {
  const told: string[] = [];
  const { admitted, refused, ask } = requests(new HeavyReads((organization) => told.push(organization)));
  for (let n = 0; n < 21; n += 1) ask(`heavy ${n}`, 101);
  await settled();
  ask('one more', 101);
  ask('light', 99);
  await settled();
  expect(refused).toEqual(['one more 503']);
  expect(admitted).toEqual(['heavy 0', 'light']);
  expect(told).toEqual(['a']);
});

test('a heavy read that has waited 5 s is refused', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { admitted, refused, ask, answer } = requests(new HeavyReads());
  ask('first', 500);
  ask('second', 500);
  await settled();
  vi.advanceTimersByTime(4999);
  await settled();
  expect(refused).toEqual([]);
  vi.advanceTimersByTime(1);
  await settled();
  expect(refused).toEqual(['second 503']);
  ask('third', 500);
  await settled();
  await answer('first');
  expect(admitted).toEqual(['first', 'third']);
});

test('the weight of a read is queried once a minute, and a measured weight applies at once', async () => {
  let now = 0;
  const heavy = new HeavyReads(undefined, () => now);
  const weigh = vi.fn(weighing(10));
  const answer = new AbortController();
  const work = heavy.of('a', answer.signal);
  await work.admit('small', weigh);
  await work.admit('small', weigh);
  expect(weigh).toHaveBeenCalledTimes(1);
  now = 60_000;
  await work.admit('small', weigh);
  expect(weigh).toHaveBeenCalledTimes(2);

  const { admitted, ask } = requests(heavy);
  ask('running', 500);
  await settled();
  work.weighed('small', 20_000); // it has 20 000 groups
  ask('waits', 10, { subject: 'small' });
  await settled();
  expect(admitted).toEqual(['running']);
});

test('a request that starts over keeps its place', async () => {
  const { admitted, ask } = requests(new HeavyReads());
  const work = ask('first', 500);
  ask('second', 500);
  await settled();
  await work.admit('first', weighing(500));
  expect(admitted).toEqual(['first']);
});
