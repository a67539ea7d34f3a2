import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ingress, startIngress } from '../../../../src/ingress/start-ingress.ts';
import { operations } from '../../../../src/operations.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { startPools } from '../../../../workers/pools.ts';
import { createClient } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { budget, figures, type Org, subscribe } from './words.ts';

const CALLERS = 64;
const ROUNDS = 4;
/** Cents of the team, and of each of its 8 users. */
const TEAM = 400;
const USER = 90;

let service: TestService;
let org: Org;
let other: { ingress: Ingress; pools: { close(): Promise<void> } };

beforeAll(async () => {
  service = await startService({
    pools: ['writes', 'budgets', 'events', 'aggregation'],
    settings: { RATE_LIMIT_BUDGETS: '100000' },
  });
  const log = createLog({ level: 'silent', process: 'test' });
  other = {
    pools: await startPools(service.config, ['budgets'], log),
    ingress: await startIngress(service.config, operations, log),
  };
  org = await service.org();
  await subscribe(org);
});
afterAll(async () => {
  await other.ingress.close();
  await other.pools.close();
  await service.stop();
});

interface Shown {
  code: string;
  group: { user?: string };
  limit: string;
  spent: string;
  held: string;
  requested: string;
  decision_no: number;
}

test('64 callers at two ingresses and two pools never pass a limit, and no refusal is false (B1, B2, B3)', async () => {
  await budget(org, 'team', String(TEAM));
  await budget(org, 'user', String(USER), { group_by: ['user'] });
  const there = createClient(other.ingress.url, org.organization.api_key, false);
  const answers: { allowed: boolean; exceeded: string[]; budgets: Shown[] }[] = [];

  const caller = async (number: number): Promise<void> => {
    const client = number % 2 === 0 ? org : there;
    const user = `u${number % 8}`;
    let settle: object[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const hold_key = `${number}/${round}`;
      const amount = 1 + ((number * 7 + round * 3) % 9);
      const { status, body } = await client.post('/budget_decisions', {
        decision: { external_subscription_id: 'ada-1', hold_key, amount, properties: { user }, settle },
      });
      expect(status).toBe(200);
      answers.push(body.decision);
      // Half of what was held is used.
      settle = body.decision.allowed ? [{ hold_key, amount: String(amount / 2) }] : [];
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));

  const passed = answers.filter(
    ({ allowed, budgets }) => allowed && budgets.some((each) => committed(each) > Number(each.limit)),
  );
  const untrue = answers.filter(
    ({ allowed, exceeded, budgets }) =>
      !allowed &&
      !budgets.some(
        (each) => exceeded.includes(each.code) && committed(each) + Number(each.requested) > Number(each.limit),
      ),
  );
  expect([passed, untrue]).toEqual([[], []]);
  expect(answers.some(({ allowed }) => !allowed)).toBe(true);
  const numbers = answers
    .flatMap(({ budgets }) => budgets.filter(({ code }) => code === 'team'))
    .map((each) => each.decision_no);
  expect(new Set(numbers).size).toBe(CALLERS * ROUNDS);
  await ledgerAgrees();
  expect(Number((await figures(org, 'team')).split(' ')[1])).toBeLessThanOrEqual(TEAM);
});

const committed = ({ spent, held }: Shown): number => Number(spent) + Number(held);

/** Windows, ledger and open holds say the same (B3). */
async function ledgerAgrees(): Promise<void> {
  const rows = await service.sql`
    select w.id from budget_windows w
    where w.organization_id = ${org.organization.organization_id}
      and (w.spent <> (select coalesce(sum(amount), 0) from budget_entries e where e.window_id = w.id)
        or w.held <> (select coalesce(sum(held), 0) from budget_hold_parts p where p.window_id = w.id and p.is_open))`;
  expect(rows).toEqual([]);
}
