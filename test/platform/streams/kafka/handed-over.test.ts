import { expect, test, vi } from 'vitest';
import { HandedOver } from '../../../../src/platform/streams/kafka/handed-over.ts';
import { until } from '../../../support/until.ts';

/** Work that ends when the test says so. */
function work() {
  let end = () => {};
  let fail = (_: Error) => {};
  const promise = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { promise, end: () => end(), fail: () => fail(new Error('away')) };
}

test.each([
  ['4 000 messages', 3999, 4000, 0],
  ['4 MiB', 1, 1, 4 * 1024 * 1024],
])('nothing more is taken while %s wait, until some of them are stored or left', async (_, few, many, bytes) => {
  const handed = new HandedOver();
  const [first, second] = [work(), work()];
  handed.add(first.promise, few, 0);
  await handed.room();
  handed.add(second.promise, many - few, bytes);
  const room = vi.fn();
  const waits = handed.room().then(room);
  await new Promise((resolve) => setImmediate(resolve));
  expect(room).not.toHaveBeenCalled();
  second.fail();
  first.end();
  await waits;
  await until(() => room.mock.calls.length === 1);
  await handed.ended();
});
