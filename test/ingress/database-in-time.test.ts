import { expect, test } from 'vitest';
import { answeredInTime } from '../../src/ingress/database-in-time.ts';
import { Outage } from '../../src/platform/refusal.ts';

test('a query without an answer in time is an outage; a result or an error passes unchanged', async () => {
  await expect(answeredInTime(new Promise(() => {}), 5)).rejects.toThrow(Outage);
  await expect(answeredInTime(Promise.resolve(1), 1000)).resolves.toBe(1);
  await expect(answeredInTime(Promise.reject(new Error('mine')), 1000)).rejects.toThrow('mine');
});
