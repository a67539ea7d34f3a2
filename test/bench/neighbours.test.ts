import { expect, test } from 'vitest';
import { ATTACK_NAMES, readOptions } from '../../bench/harness/options.ts';
import { attacks, largePlan } from '../../bench/sections/neighbours/attacks.ts';

test('the neighbours are measured when they are asked for by name, not with all the rest', () => {
  expect(readOptions([]).only).not.toContain('neighbours');
  expect(readOptions(['--only', 'neighbours']).only).toEqual(['neighbours']);
});

test('every attack of the findings is replayed', () => {
  expect(attacks.map(({ name }) => name)).toEqual(ATTACK_NAMES);
});

test('an attack that is asked for by name is measured several times', () => {
  const { effort } = readOptions(['--only', 'neighbours', '--attacks', 'E2 wallet,A5']);
  expect(effort).toMatchObject({ attacks: ['E2 wallet', 'A5'], neighbourRounds: 5 });
  expect(readOptions(['--only', 'neighbours']).effort).toMatchObject({ neighbourRounds: 1 });
});

test('what the attacks send is what was found: the large plan has 500 charges', () => {
  const { plan } = largePlan('metric');
  expect(plan.charges).toHaveLength(500);
  expect(new Set(plan.charges.map(({ code }) => code)).size).toBe(500);
});
