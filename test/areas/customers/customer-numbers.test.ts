import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { takeNumber } from '../../../src/areas/customers/customers/customer-numbers.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { startService, type TestService } from '../../support/service.ts';

const CALLERS = 24;

let service: TestService;
/** A pool of connections that the service does not use. */
let others: Sql;
let org: Awaited<ReturnType<TestService['org']>>;
let id: string;
beforeAll(async () => {
  service = await startService({
    pools: ['writes'],
    settings: { DATABASE_POOL: String(CALLERS), CONCURRENCY_WRITES: String(CALLERS), WRITE_TIMEOUT_SECONDS: '10' },
  });
  others = connectDatabase(service.config.DATABASE_URL!, { connections: 4 });
});
afterAll(async () => {
  await others.end();
  await service.stop();
});
beforeEach(async () => {
  org = await service.org();
  id = org.organization.organization_id;
});

const makeMany = async (prefix: string, count: number): Promise<number[]> => {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      org.post('/customers', { customer: { external_id: `${prefix}${index}` } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  return answers.map(({ body }) => body.customer.sequential_id as number).sort((a, b) => a - b);
};
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Runs `work` while a transaction that takes a number stays open, which is rolled back at the end. */
async function whileOneIsMade<Result>(work: (taken: number) => Promise<Result>): Promise<Result> {
  let result: Result | undefined;
  const takenBack = new Error('taken back');
  await others
    .begin(async (tx) => {
      result = await work((await takeNumber({ db: tx, organizationId: id })).number);
      throw takenBack;
    })
    .catch((error) => {
      if (error !== takenBack) throw error;
    });
  return result!;
}

/**
 * Statements that waited for a row, a number or a lock of somebody else while `work` ran, seen every few milliseconds.
 */
async function waitsDuring(work: Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const waiting = await others<{ query: string }[]>`
      select query from pg_stat_activity
      where datname = current_database() and wait_event in ('transactionid', 'tuple', 'advisory')`;
    seen.push(...waiting.map(({ query }) => query));
  }
  await ended;
  return seen;
}

test('24 customers are created at the same time without waiting for each other', async () => {
  await makeMany('first', 1);
  let numbers: number[] = [];
  const making = async () => {
    for (const round of ['a', 'b', 'c', 'd', 'e', 'f']) numbers.push(...(await makeMany(round, CALLERS)));
  };
  expect(await waitsDuring(making())).toEqual([]);
  numbers = numbers.sort((a, b) => a - b);
  expect(numbers).toEqual(upTo(6 * CALLERS + 1).slice(1));
});

test('an open transaction that creates a customer delays no other one and gives its number back when rolled back', async () => {
  await makeMany('first', 1);
  const numbers = await whileOneIsMade(async (taken) => {
    expect(taken).toBe(2);
    return makeMany('c', CALLERS);
  });
  expect(numbers).toEqual(upTo(CALLERS + 2).slice(2));
  expect(await makeMany('next', 1)).toEqual([2]);
});

test('the first customers of an organization created at the same time get the first numbers', async () => {
  expect(await makeMany('c', CALLERS)).toEqual(upTo(CALLERS));
});

test('customer numbers continue beyond those made in advance', async () => {
  const taken: number[] = [];
  await others.begin(async (tx) => {
    for (let count = 0; count < 300; count += 1) taken.push((await takeNumber({ db: tx, organizationId: id })).number);
  });
  expect(taken).toEqual(upTo(300));
  expect(await makeMany('next', 1)).toEqual([301]);
});
