import { expect, test } from 'vitest';
import { merged, mergedApart } from '../../../src/platform/queue/merge-calls.ts';

/** Work that waits to be told how it ends; runs in the order of their start. */
function controlled() {
  const runs: { inputs: number[]; end(error?: Error): void }[] = [];
  const call = merged(
    (inputs: number[]) =>
      new Promise<string[]>((resolve, reject) => {
        runs.push({ inputs, end: (error) => (error ? reject(error) : resolve(inputs.map((input) => `<${input}>`))) });
      }),
  );
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { runs, call, turn };
}

test('calls merged within one turn make one run, and calls that arrive while two runs are under way wait for the next', async () => {
  const { runs, call, turn } = controlled();
  const answers = [call(1), call(2)];
  await turn();
  answers.push(call(3));
  await turn();
  answers.push(call(4), call(5));
  await turn();
  expect(runs.map(({ inputs }) => inputs)).toEqual([[1, 2], [3]]);
  runs[1]!.end();
  expect(await answers[2]).toBe('<3>');
  await turn();
  expect(runs.map(({ inputs }) => inputs)).toEqual([[1, 2], [3], [4, 5]]);
  runs[0]!.end();
  runs[2]!.end();
  expect(await Promise.all(answers)).toEqual(['<1>', '<2>', '<3>', '<4>', '<5>']);
});

test('a run takes as many of the oldest as fit, and all places are used for the rest', async () => {
  const runs: number[][] = [];
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async (inputs: number[]) => {
    runs.push(inputs);
    await ended;
    return inputs.map((input) => -input);
  };
  const call = merged(work, { mostInFlight: 2, fitting: (waiting) => (waiting[0] === 9 ? 1 : 2) });
  const answers = [9, 1, 2, 3, 4].map((input) => call(input));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(runs).toEqual([[9], [1, 2]]);
  end();
  expect(await Promise.all(answers)).toEqual([-9, -1, -2, -3, -4]);
  expect(runs).toEqual([[9], [1, 2], [3, 4]]);
});

test('a run that fails fails only its own merged calls, and the next run goes on', async () => {
  const { runs, call, turn } = controlled();
  const failing = call(1);
  await turn();
  runs[0]!.end(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  const next = call(2);
  await turn();
  runs[1]!.end();
  expect(await next).toBe('<2>');
});

test('a merged call whose output is still missing delays neither its run nor other calls', async () => {
  let finish: (output: string) => void = () => {};
  const late = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const call = merged(async (inputs: number[]) => inputs.map((input) => (input === 1 ? late : `<${input}>`)), {
    mostInFlight: 1,
  });
  const slow = call(1);
  expect(await call(2)).toBe('<2>');
  expect(await call(3)).toBe('<3>');
  finish('late');
  expect(await slow).toBe('late');
});

test('merged calls of one key run one run at a time, and other keys run beside them', async () => {
  const runs: { inputs: number[]; end(): void }[] = [];
  const apart = mergedApart(
    (inputs: number[]) =>
      new Promise<number[]>((resolve) => {
        runs.push({ inputs, end: () => resolve(inputs) });
      }),
  );
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const first = apart.call('a', 1);
  await turn();
  const others = [apart.call('a', 2), apart.call('a', 3), apart.call('b', 4)];
  await turn();
  expect(runs.map(({ inputs }) => inputs)).toEqual([[1], [4]]);
  expect([apart.isBusy('a'), apart.isBusy('b'), apart.isBusy('c')]).toEqual([true, true, false]);
  runs[0]!.end();
  await first;
  await turn();
  expect(runs.map(({ inputs }) => inputs)).toEqual([[1], [4], [2, 3]]);
  for (const run of runs) run.end();
  expect(await Promise.all(others)).toEqual([2, 3, 4]);
  expect([apart.isBusy('a'), apart.isBusy('b')]).toEqual([false, false]);
});
