import { expect, test } from 'vitest';
import {
  type GrantedPrivilege,
  type NeededPrivilege,
  reasonsOfFeature,
  standingOf,
} from '../../../src/engine/access/reasons-to-deny.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const GRANTED: GrantedPrivilege[] = [
  { code: 'max', type: 'integer', text: '25' },
  { code: 'sso', type: 'boolean', text: 'true' },
  { code: 'beta', type: 'boolean', text: 'false' },
  { code: 'tier', type: 'select', text: 'gold' },
  { code: 'note', type: 'string', text: 'a' },
];

// access-check.md, input and "Reasons"; AC3 is the value of 20.
test.each<[NeededPrivilege | undefined, string[]]>([
  [undefined, []],
  [{ code: 'none' }, ['privilege_not_granted']],
  [{ code: 'max' }, []],
  [{ code: 'max', value: 20 }, []],
  [{ code: 'max', value: 25 }, []],
  [{ code: 'max', value: '25' }, []],
  [{ code: 'max', value: 26 }, ['privilege_value_not_allowed']],
  [{ code: 'max', value: 25.5 }, ['privilege_value_not_allowed']],
  [{ code: 'max', value: 'many' }, ['privilege_value_not_allowed']],
  [{ code: 'max', value: true }, ['privilege_value_not_allowed']],
  [{ code: 'sso' }, []],
  [{ code: 'sso', value: true }, []],
  [{ code: 'beta' }, ['privilege_value_not_allowed']],
  [{ code: 'beta', value: false }, ['privilege_value_not_allowed']],
  [{ code: 'tier', value: 'gold' }, []],
  [{ code: 'tier', value: 'silver' }, ['privilege_value_not_allowed']],
  [{ code: 'note' }, []],
  [{ code: 'note', value: 'a' }, []],
  [{ code: 'note', value: 'A' }, ['privilege_value_not_allowed']],
])('an access check with %j is answered with %j', (needed, reasons) => {
  expect(reasonsOfFeature(GRANTED, needed)).toEqual(reasons);
});

test('an access check of an unknown feature is denied', () => {
  expect(reasonsOfFeature(undefined, { code: 'max', value: 1 })).toEqual(['feature_not_granted']);
});

// AC1.
test.each([
  ['1000', '999', '1', '1', 'within'],
  ['1000', '999', '2', '1', 'beyond'],
  ['1000', '1000', '1', '0', 'beyond'],
  ['1000', '1000', '0', '0', 'within'],
  ['1000', '1200.5', '0', '0', 'beyond'],
  ['0', '0', '0.000001', '0', 'beyond'],
])(
  'with limit %s and %s used, of which %s more are requested, %s remain and the request is %s the limit',
  (limit, used, requested, remaining, where) => {
    const standing = standingOf(decimal(limit), decimal(used), decimal(requested));
    expect([standing.remaining.toFixed(), standing.isReached]).toEqual([remaining, where === 'beyond']);
  },
);
