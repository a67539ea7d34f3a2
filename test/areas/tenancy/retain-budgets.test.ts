import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUDGET_CHECKS } from '../../../src/areas/reporting/audit-books/budget-checks.ts';
import { retention } from '../../../src/areas/tenancy/retain-rows/delete-by-class.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import { scratchDeps } from '../../jobs/advance-clock/scratch.ts';
import { startService, type TestService } from '../../support/service.ts';
import { ok } from '../../support/words.ts';
import { budget, decide, event, figures, subscribe } from '../usage/budgets/words.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events', 'budgets'] });
});
afterAll(() => service.stop());

test('windows, holds and entries of budgets are kept 100 days; an opening entry stands for those of a live one', async () => {
  const { sql } = service;
  const org = await service.org();
  const { organization_id } = org.organization;
  await subscribe(org);
  await budget(org, 'life', '1000', { period: 'lifetime' });
  await budget(org, 'day', '1000', { period: 'day', timezone: 'UTC' });
  const use = async (key: string, amount: string) => {
    await ok(decide(org, { hold_key: key, amount: '10' }));
    await ok(decide(org, { settle: [{ hold_key: key, event: event(key, amount) }] }));
  };
  const age = (days: number) =>
    sql.begin(async (tx) => {
      const by = `${days} days`;
      await tx`update budget_entries set created_at = created_at - ${by}::interval where organization_id = ${organization_id}`;
      await tx`
      update budget_windows set starts_at = starts_at - ${by}::interval, ends_at = ends_at - ${by}::interval
      where organization_id = ${organization_id}`;
      await tx`
      update budget_holds set created_at = created_at - ${by}::interval, closed_at = closed_at - ${by}::interval
      where organization_id = ${organization_id}`;
    });
  const left = async (table: string) =>
    (await sql`select from ${sql(table)} where organization_id = ${organization_id}`).length;
  const sweep = () => retention.sweep(scratchDeps(sql) as unknown as SweepDeps, realNow());

  await use('a', '7');
  await use('b', '5');
  await age(99);
  await sweep();
  expect([await left('budget_entries'), await left('budget_windows'), await left('budget_holds')]).toEqual([4, 2, 2]);
  await age(2);
  await ok(decide(org, { hold_key: 'open', amount: '3' }));
  await sweep();
  // What is held of the day keeps its window.
  expect([await left('budget_entries'), await left('budget_windows'), await left('budget_holds')]).toEqual([2, 2, 1]);
  const ledger = async () =>
    (await org.get('/budgets/life/entries')).body.entries.map(
      ({ source, amount, events }: { source: string; amount: string; events: number }) =>
        `${source} ${amount} ${events}`,
    );
  expect(await ledger()).toEqual(['opening 12.0 2']);
  expect(await figures(org, 'life')).toBe('1000.0 12.0 3.0 open');

  await use('c', '1');
  await age(101);
  await sweep();
  expect(await ledger()).toEqual(['opening 13.0 3']);
  await ok(org.post('/budget_holds/key:open/release'));
  await age(101);
  await sweep();
  expect([await left('budget_entries'), await left('budget_windows'), await left('budget_holds')]).toEqual([1, 1, 0]);
  expect(await figures(org, 'life')).toBe('1000.0 13.0 0.0 open');
  const found = await BUDGET_CHECKS[0]!.find({ db: sql, organizationId: organization_id } as never);
  expect(found).toEqual([]);
});
