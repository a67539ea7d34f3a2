import { expect, test } from 'vitest';
import { ATTACK_NAMES, readOptions } from '../../bench/harness/options.ts';
import { attacks, plansOf } from '../../bench/sections/neighbours/attacks.ts';

test('the neighbours section runs only when it is requested by name', () => {
  expect(readOptions([]).only).not.toContain('neighbours');
  expect(readOptions(['--only', 'neighbours']).only).toEqual(['neighbours']);
});

test('the neighbours section replays every attack of the findings', () => {
  expect(attacks.map(({ name }) => name)).toEqual(ATTACK_NAMES);
});

test('an attack that is requested by name is measured several times', () => {
  const { effort } = readOptions(['--only', 'neighbours', '--attacks', 'E2 wallet,A5']);
  expect(effort).toMatchObject({ attacks: ['E2 wallet', 'A5'], neighbourRounds: 5 });
  expect(readOptions(['--only', 'neighbours']).effort).toMatchObject({ neighbourRounds: 1 });
});

test('attacks send what was found to be slow: the large plan has 500 charges, an ordinary one 10', () => {
  const plans = plansOf('metric').map(({ plan }) => plan);
  expect(plans.map(({ code, charges }) => [code, charges.length])).toEqual([
    ['large', 500],
    ['ordinary', 10],
  ]);
  for (const { charges } of plans) expect(new Set(charges.map(({ code }) => code)).size).toBe(charges.length);
});
