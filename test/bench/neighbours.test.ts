import { expect, test } from 'vitest';
import { readOptions } from '../../bench/harness/options.ts';
import { attacks, largePlan } from '../../bench/sections/neighbours/attacks.ts';

test('the neighbours are measured when they are asked for by name, not with all the rest', () => {
  expect(readOptions([]).only).not.toContain('neighbours');
  expect(readOptions(['--only', 'neighbours']).only).toEqual(['neighbours']);
});

test('every attack of the findings is replayed', () => {
  expect(attacks.map(({ name }) => name)).toEqual([
    ...['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7', 'A8'],
    'E2 locked',
    'E2 wallet',
    'events',
  ]);
});

test('what the attacks send is what was found: the large plan has 500 charges', () => {
  const { plan } = largePlan('metric');
  expect(plan.charges).toHaveLength(500);
  expect(new Set(plan.charges.map(({ code }) => code)).size).toBe(500);
});
