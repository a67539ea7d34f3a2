import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { whileHeld } from '../../../src/platform/streams/hold-lease.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('work on a part that another process has is not begun', async () => {
  const work = vi.fn();
  const release = vi.fn();
  expect(await whileHeld({ claim: async () => false, release }, 'a', work)).toBeUndefined();
  expect(work).not.toHaveBeenCalled();
  expect(release).not.toHaveBeenCalled();
});

test('work ends when another process has taken the part, which is asked every 10 s', async () => {
  const claims = [true, true, false];
  const claim = vi.fn(async () => claims.shift()!);
  const held = whileHeld({ claim, release: async () => {} }, 'a', untilAborted);
  await vi.advanceTimersByTimeAsync(19_999);
  expect(claim).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(await held).toBeUndefined();
});

test('work goes on while the database is away', async () => {
  let isAway = false;
  const claim = async () => {
    if (isAway) throw new Error('away');
    return true;
  };
  let end = (_: string) => {};
  const held = whileHeld({ claim, release: async () => {} }, 'a', (lost) => {
    return new Promise<string>((resolve) => {
      end = (text) => resolve(`${text} ${lost.aborted}`);
    });
  });
  await vi.advanceTimersByTimeAsync(1);
  isAway = true;
  await vi.advanceTimersByTimeAsync(20_000);
  end('ended');
  expect(await held).toBe('ended false');
});

test('what work throws is thrown, and the part is left', async () => {
  const release = vi.fn(async () => {});
  const held = whileHeld({ claim: async () => true, release }, 'a', async () => {
    throw new Error('no');
  });
  await expect(held).rejects.toThrow('no');
  expect(release).toHaveBeenCalledWith('a');
});

test('a part is left when the renewal under way has ended, which would take it again', async () => {
  const order: string[] = [];
  let isFirst = true;
  const claim = async () => {
    if (!isFirst) await new Promise((resolve) => setTimeout(resolve, 5000));
    isFirst = false;
    order.push('claimed');
    return true;
  };
  const release = async () => void order.push('released');
  const held = whileHeld({ claim, release }, 'a', () => new Promise((resolve) => setTimeout(resolve, 12_000)));
  await vi.advanceTimersByTimeAsync(15_000);
  await held;
  expect(order).toEqual(['claimed', 'claimed', 'released']);
});
