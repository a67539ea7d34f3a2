import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { budget, decide, type Org, subscribe } from './words.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({
    pools: ['writes', 'budgets'],
    settings: { RATE_LIMIT_BUDGETS: '100000', CONCURRENCY_BUDGETS: '2', DATABASE_POOL: '12' },
  });
});
afterAll(() => service.stop());

const opened = async (limit: string): Promise<Org> => {
  const org = await service.org();
  await subscribe(org);
  await budget(org, 'month', limit);
  return org;
};

test('a flood of one organization, whose windows are locked too, keeps no place of the pool from another', async () => {
  const [noisy, quiet] = [await opened('1000000'), await opened('100')];
  await decide(noisy, { hold_key: 'first', amount: '1' });
  // Whoever decides about the noisy one waits for this transaction.
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const blocker = service.sql.begin(async (tx) => {
    await tx`
      select from budget_windows where organization_id = ${noisy.organization.organization_id} for no key update`;
    locked();
    await released;
  });
  await isLocked;
  const flood = Array.from({ length: 400 }, (_, index) => decide(noisy, { hold_key: `f${index}`, amount: '1' }));
  let isFloodOver = false;
  const flooded = Promise.all(flood).then((answers) => {
    isFloodOver = true;
    return answers;
  });
  for (let index = 0; index < 5; index += 1) {
    const { body } = await decide(quiet, { hold_key: `q${index}`, amount: '1' });
    expect(body.decision.allowed).toBe(true);
  }
  expect(isFloodOver).toBe(false);
  release();
  await blocker;
  const answers = await flooded;
  expect(answers.filter(({ status, body }) => status === 200 && body.decision.allowed)).toHaveLength(400);
});
