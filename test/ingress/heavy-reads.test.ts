import { afterEach, expect, test, vi } from 'vitest';
import { HeavyReads } from '../../src/ingress/heavy-reads.ts';
import type { HeavyWork } from '../../src/platform/context.ts';

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

test('an organization has one heavy read at a time until it is answered; light ones and other organizations go on', async () => {
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

/** The same read of several callers: `computed` are the instants at which it was computed to its end. */
function twins(heavy: HeavyReads) {
  const callers = new Map<string, AbortController>();
  const answers: string[] = [];
  const state = { now: 0, computed: 0 };
  return {
    state,
    answers,
    ask(caller: string, name = 'usage') {
      const signal = new AbortController();
      callers.set(caller, signal);
      const compute = async (work: HeavyWork) => {
        const begunAt = state.now;
        await work.admit(name, weighing(500));
        state.computed += 1;
        return `of ${begunAt}`;
      };
      const asked = { organizationId: 'a', name, signal: signal.signal };
      void heavy.answer(asked, compute).then(
        (answer) => answers.push(`${caller} ${answer}`),
        (error: { status: number }) => answers.push(`${caller} ${error.status}`),
      );
    },
    async close(caller: string) {
      callers.get(caller)!.abort();
      await settled();
    },
  };
}

test('the same read waits once: all who ask meanwhile have its answer, as of after the last of them', async () => {
  const { ask, close, answers, state } = twins(new HeavyReads());
  ask('first');
  await settled();
  expect(answers).toEqual(['first of 0']);
  for (const caller of ['second', 'third', 'fourth']) {
    state.now += 1;
    ask(caller);
    await settled();
  }
  state.now = 9;
  await close('first');
  expect(answers.slice(1).toSorted()).toEqual(['fourth of 9', 'second of 9', 'third of 9']);
  expect(state.computed).toBe(2);
  ask('fifth'); // what is computed already is not for those who ask later
  await settled();
  expect(answers).toHaveLength(4);
  await close('second');
  expect(answers.at(-1)).toBe('fifth of 9');
});

test('a read without twins begins once, and another read is no twin', async () => {
  const { ask, close, answers, state } = twins(new HeavyReads());
  ask('first');
  await settled();
  state.now = 1;
  ask('second');
  ask('other', 'another');
  await settled();
  state.now = 2;
  await close('first');
  expect(answers).toEqual(['first of 0', 'second of 1']);
  await close('second');
  expect(answers.at(-1)).toBe('other of 1');
});

test('when the caller of the one that waits has gone, another one takes its place', async () => {
  const { ask, close, answers, state } = twins(new HeavyReads());
  ask('first');
  await settled();
  for (const caller of ['second', 'third', 'fourth']) ask(caller);
  await settled();
  await close('second');
  expect(answers).toEqual(['first of 0', 'second 503']);
  await close('first');
  expect(answers.slice(2).toSorted()).toEqual(['fourth of 0', 'third of 0']);
  expect(state.computed).toBe(2);
});

test('beyond twenty others the same read is refused, and what it waits for refuses all of them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const told: string[] = [];
  const { ask, answers } = twins(new HeavyReads((organization) => told.push(organization)));
  ask('first');
  await settled();
  for (let n = 0; n < 22; n += 1) ask(`${n}`);
  await settled();
  expect(answers).toEqual(['first of 0', '21 503']);
  vi.advanceTimersByTime(5000);
  await settled();
  expect(answers).toHaveLength(23);
  expect(new Set(answers.slice(1).map((answer) => answer.split(' ')[1]))).toEqual(new Set(['503']));
  expect(told).toEqual(['a', 'a']);
});

test('those of the same read who hang up make room for others', async () => {
  const { ask, close, answers } = twins(new HeavyReads());
  ask('first');
  await settled();
  ask('second');
  await settled();
  for (let n = 0; n < 20; n += 1) ask(`${n}`);
  await settled();
  ask('too many');
  await settled();
  for (let n = 0; n < 20; n += 1) await close(`${n}`);
  ask('patient');
  await settled();
  await close('first');
  expect(answers).toContain('too many 503');
  expect(answers).toContain('patient of 0');
});
