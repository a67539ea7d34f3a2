import { expect, test } from 'vitest';
import { groupOf, limitOf, matchesBudget, type Usage } from '../../../src/engine/budgets/match-budget.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const ANY = { customer_id: null, external_subscription_id: null, codes: null, match: {}, group_by: [] };
const USAGE: Usage = {
  customer_id: 'c1',
  external_subscription_id: 'ada-1',
  code: 'ai_usage',
  properties: { user: 'u1', team: 7, model: 'beta' },
};

test.each([
  ['an organization', {}, true],
  ['the customer', { customer_id: 'c1' }, true],
  ['another customer', { customer_id: 'c2' }, false],
  ['the subscription', { external_subscription_id: 'ada-1' }, true],
  ['another subscription', { external_subscription_id: 'ada-2' }, false],
  ['its code', { codes: ['calls', 'ai_usage'] }, true],
  ['other codes', { codes: ['calls'] }, false],
  ['an equal property', { match: { model: 'beta' } }, true],
  ['a property equal as text', { match: { team: '7' } }, true],
  ['one of two equal properties', { match: { model: 'beta', user: 'u2' } }, false],
  ['a property that it lacks', { match: { agent: 'a' } }, false],
])('usage counts in a budget of %s: %j → %s', (_, selection, matches) => {
  expect(matchesBudget({ ...ANY, ...selection }, USAGE)).toBe(matches);
});

test('a question without a code is not for a budget of codes', () => {
  expect(matchesBudget({ ...ANY, codes: ['ai_usage'] }, { ...USAGE, code: null })).toBe(false);
});

test('the group has the values as texts, and null where the property is absent', () => {
  expect(groupOf({ group_by: ['user', 'team', 'agent'] }, USAGE.properties)).toEqual(['u1', '7', null]);
});

test('a group with a limit of its own has that one, and others the limit of the budget', () => {
  const budget = { limit: decimal('40'), overrides: [{ values: ['u1', null], limit: decimal('90') }] };
  expect(
    [
      ['u1', null],
      ['u1', 'a'],
      ['u2', null],
    ].map((group) => limitOf(budget, group).toFixed()),
  ).toEqual(['90', '40', '40']);
});
