import { expect, test } from 'vitest';
import { mapInSlices, sortInSlices, Turns } from '../../src/platform/turns/turns.ts';

// everywhere.md#bounded-cost: no organization takes more than its share of the processor time of the ingress.

test('a computation continues at once within its slice of 2 ms and then waits for its turn', async () => {
  let now = 0;
  const pause = new Turns(() => now).pauseOf('a');
  await pause();
  now = 1.9;
  expect(pause()).toBeUndefined();
  now = 2;
  expect(pause()).toBeInstanceOf(Promise);
});

test('a piece that took long is followed by a rest in which others are answered', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  let looks = 0;
  let isOver = false;
  const look = () => {
    looks += 1;
    if (!isOver) setTimeout(look, 1);
  };
  const looksBetween = async (pieceMs: number) => {
    const found: number[] = [];
    await Promise.all(
      ['a', 'b', 'a'].map(async (organization) => {
        await turns.pauseOf(organization)();
        found.push(looks);
        now += pieceMs;
      }),
    );
    return found[2]! - found[0]!;
  };
  look();
  const betweenShort = await looksBetween(1);
  const betweenLong = await looksBetween(40);
  isOver = true;
  expect(betweenShort).toBeLessThan(10);
  expect(betweenLong).toBeGreaterThan(15); // two rests of 40 ms
});

test('organizations take turns, each with its oldest request', async () => {
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

test('of 20 computations under way one continues between two looks at the network', async () => {
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

test('a computation ends with 503 when its caller is gone or after 2500 slices', async () => {
  const ending = new AbortController();
  const gone = new Turns(() => 0).pauseOf('a', ending.signal);
  const paused = gone();
  ending.abort();
  await expect(paused).rejects.toMatchObject({ status: 503 });

  let now = 0;
  const pause = new Turns(() => now).pauseOf('a');
  const endless = mapInSlices(
    Array.from({ length: 3000 }, (_, n) => n),
    (n) => {
      now += 2;
      return n;
    },
    pause,
  );
  await expect(endless).rejects.toMatchObject({ status: 503 });
  expect(now).toBe(5002);
});

test.each([0, 1, 500, 501, 3777])(
  '%i items sorted in pieces equal those sorted in one piece, with equal ones in their order',
  async (count) => {
    const items = Array.from({ length: count }, (_, n) => ({ n, by: (n * 7919) % 97 }));
    const byKey = (a: { by: number }, b: { by: number }) => a.by - b.by;
    let pauses = 0;
    const sorted = await sortInSlices(items, byKey, () => {
      pauses += 1;
      return undefined;
    });
    expect(sorted).toEqual(items.toSorted(byKey));
    expect(pauses).toBeGreaterThanOrEqual(Math.ceil(count / 500));
  },
);
