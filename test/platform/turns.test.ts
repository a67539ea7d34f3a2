import { expect, test } from 'vitest';
import { mapInSlices, Turns } from '../../src/platform/turns/turns.ts';

// everywhere.md#bounded-cost: no organization takes more than its share of the processor time of the ingress.

test('a computation goes on at once while its slice of 5 ms lasts, and waits for its turn then', async () => {
  let now = 0;
  const pause = new Turns(() => now).pauseOf('a');
  await pause();
  now = 4.9;
  expect(pause()).toBeUndefined();
  now = 5;
  expect(pause()).toBeInstanceOf(Promise);
});

test('organizations have their turns one after the other, each with its oldest request', async () => {
  const turns = new Turns(() => 0);
  const order: string[] = [];
  const [first, second, other] = [turns.pauseOf('a'), turns.pauseOf('a'), turns.pauseOf('b')];
  const goOn = async (name: string, pause: () => Promise<void> | undefined) => {
    await pause();
    order.push(name);
  };
  await Promise.all([goOn('a2', second), goOn('a1', first), goOn('b', other)]);
  expect(order).toEqual(['a1', 'b', 'a2']);
});

test('of 20 computations at once one goes on between two looks at the network', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  const seen: string[] = [];
  let isOver = false;
  const look = () => {
    seen.push('look');
    if (!isOver) setImmediate(look);
  };
  const compute = () =>
    mapInSlices(
      [1, 2, 3],
      () => {
        now += 6;
        seen.push('piece');
      },
      turns.pauseOf('a'),
    );
  const begun = async () => {
    await turns.pauseOf('a')();
    return compute();
  };
  const computing = Promise.all(Array.from({ length: 20 }, begun));
  setImmediate(look);
  await computing;
  isOver = true;
  expect(seen.filter((each) => each === 'piece')).toHaveLength(60);
  expect(seen.join(' ')).not.toContain('piece piece');
});

test('a computation ends with 503 when its caller is gone, or after 1000 slices', async () => {
  const ending = new AbortController();
  const gone = new Turns(() => 0).pauseOf('a', ending.signal);
  const paused = gone();
  ending.abort();
  await expect(paused).rejects.toMatchObject({ status: 503 });

  let now = 0;
  const pause = new Turns(() => now).pauseOf('a');
  const endless = mapInSlices(
    Array.from({ length: 2000 }, (_, n) => n),
    (n) => {
      now += 5;
      return n;
    },
    pause,
  );
  await expect(endless).rejects.toMatchObject({ status: 503 });
  expect(now).toBe(5005);
});
