import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../support/client.ts';
import { inLongRun } from '../support/long-run.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { prove } from './budgets/prove.ts';
import { openStand, type Stand } from './budgets/stand.ts';

// The short form of `npm run proof:budget`: rule docs/rules/budgets.md#proof.
let stand: Stand;

beforeAll(async () => {
  stand = await openStand(2);
}, 600_000);
afterAll(() => stand?.stop(), 60_000);

test('nothing is spent beyond a limit and no refusal is false, whatever is killed, cut, emptied or restored', {
  timeout: 600_000,
}, async () => {
  const { runs, strikes } = await prove(stand, {
    callers: 64,
    seconds: inLongRun(60, 16),
    kills: 6,
    cuts: 1,
    flushes: 1,
    restartsPostgres: true,
  });
  expect(strikes).toHaveLength(10);
  for (const { name, checked } of runs) {
    expect({ name, ...checked }).toMatchObject({
      overspent: '0',
      overspentInLedger: name === 'mixed' ? null : '0',
      falseRefusals: 0,
      drift: '0',
    });
    // Every run has reached limits.
    expect(Math.min(checked.allowed, checked.refused)).toBeGreaterThan(0);
  }
});

test('figures are the same whatever Redis has lost or brought back between hold and settlement (BU17)', {
  timeout: 120_000,
}, async () => {
  const client = createClient(stand.urls[0]!, stand.organization.api_key);
  const decide = async (decision: object) => {
    const body = { decision: { external_subscription_id: 'ada-1', ...decision } };
    return until(async () => {
      const answer = await client.post('/budget_decisions', body);
      return answer.status === 200 ? answer.body.decision : undefined;
    }, 60_000);
  };
  const budget = {
    code: 'bu17',
    name: 'BU17',
    scope: 'organization',
    measure: 'tokens',
    period: 'lifetime',
    limit: '100',
  };
  await ok(client.post('/budgets', { budget: { ...budget, match: { run: 'bu17' } } }));
  const properties = { run: 'bu17' };
  await stand.keepRedis();
  await decide({ hold_key: 'bu17/a', tokens: '60', properties });
  await stand.flushRedis();
  await decide({ hold_key: 'bu17/b', tokens: '30', properties });
  await stand.restoreRedis();
  const settled = await decide({
    hold_key: 'bu17/c',
    tokens: '51',
    properties,
    settle: [
      { hold_key: 'bu17/a', amount: '0' },
      {
        hold_key: 'bu17/b',
        usage: { transaction_id: 'bu17', provider: 'openai', model: 'alpha', parts: { input: 20 }, properties },
      },
    ],
  });
  // 60 by an amount stay as they were held: it is no figure of tokens.
  expect(settled).toMatchObject({ allowed: false, budgets: [{ spent: '80.0', held: '0.0', requested: '51.0' }] });
  const again = await decide({ hold_key: 'bu17/d', tokens: '20', properties });
  expect(again).toMatchObject({ allowed: true, budgets: [{ spent: '80.0', held: '20.0', remaining: '0.0' }] });
});
