import { describe, expect, test } from 'vitest';
import {
  grantValues,
  hideFeature,
  hidePrivilege,
  mergeFeature,
  NO_OVERRIDE,
  type Override,
  patchFeature,
} from '../../../src/engine/entitlements/merge-overrides.ts';

const values = (of: Record<string, string>) => new Map(Object.entries(of));
const own = (of: Record<string, string>, rest: Partial<Override> = {}): Override => ({
  ...NO_OVERRIDE,
  isGranted: true,
  values: values(of),
  ...rest,
});
const shown = (plan: Record<string, string> | undefined, override: Override) => {
  const merged = mergeFeature(plan && values(plan), override);
  return merged && Object.fromEntries([...merged].map(([code, { value }]) => [code, value]));
};
const SEATS = { max: '10', sso: 'false' };

// entitlements.md#merge, table "Merge".
test.each<[string, Record<string, string> | undefined, Override, Record<string, string> | undefined]>([
  ['neither grants it', undefined, NO_OVERRIDE, undefined],
  ['the plan grants it', SEATS, NO_OVERRIDE, SEATS],
  ['the plan grants it without values', {}, NO_OVERRIDE, {}],
  ['the subscription grants it', undefined, own({ max: '3' }), { max: '3' }],
  ['both do', SEATS, own({ max: '25' }), { max: '25', sso: 'false' }],
  ['it is hidden', SEATS, { ...NO_OVERRIDE, isHidden: true }, undefined],
  ['a privilege is hidden', SEATS, { ...NO_OVERRIDE, hiddenPrivileges: new Set(['sso']) }, { max: '10' }],
  [
    'a hidden privilege has a value of its own',
    SEATS,
    own({ sso: 'true' }, { hiddenPrivileges: new Set(['sso']) }),
    { max: '10', sso: 'true' },
  ],
])('an entitlement of plan and subscription is merged when %s', (_when, plan, override, expected) => {
  expect(shown(plan, override)).toEqual(expected);
});

test('a merged value says where it comes from', () => {
  expect(mergeFeature(values(SEATS), own({ max: '25' }))).toEqual(
    new Map([
      ['max', { value: '25', plan: '10', override: '25' }],
      ['sso', { value: 'false', plan: 'false', override: undefined }],
    ]),
  );
});

// entitlements.md#merge, table "PATCH per feature".
test.each<[string, Record<string, string> | undefined, Override, Record<string, string>, Override]>([
  [
    'a value where neither granted the feature',
    undefined,
    { ...NO_OVERRIDE, isHidden: true },
    { max: '5' },
    own({ max: '5' }),
  ],
  ['exactly the values of the plan', SEATS, own({ max: '25' }), { max: '10', sso: 'false' }, NO_OVERRIDE],
  ['the values of the plan where the feature was hidden', SEATS, hideFeature(values(SEATS)), SEATS, NO_OVERRIDE],
  ['nothing where the plan has no values', {}, { ...NO_OVERRIDE, isHidden: true }, {}, NO_OVERRIDE],
  ['nothing where the plan has values', SEATS, NO_OVERRIDE, {}, own({})],
  ['another value', SEATS, NO_OVERRIDE, { max: '25' }, own({ max: '25' })],
  ['another value in place of an own one', SEATS, own({ max: '25' }), { max: '30' }, own({ max: '30' })],
  ['one value of the plan', SEATS, own({ max: '25', sso: 'true' }), { max: '10' }, own({ sso: 'true' })],
  [
    'another value of a hidden privilege',
    SEATS,
    own({}, { hiddenPrivileges: new Set(['sso']) }),
    { sso: 'true' },
    own({ sso: 'true' }),
  ],
  [
    'the value of the plan of a hidden privilege',
    SEATS,
    own({}, { hiddenPrivileges: new Set(['sso']) }),
    { sso: 'false' },
    own({}),
  ],
  [
    'a value where only the subscription grants the feature',
    undefined,
    own({ max: '5' }),
    { sso: 'true' },
    own({ max: '5', sso: 'true' }),
  ],
])('an override is patched with %s', (_with, plan, before, given, after) => {
  expect(patchFeature(plan && values(plan), before, values(given))).toEqual(after);
});

describe('removed entitlements', () => {
  test('a removed feature is hidden if the plan grants it and deleted if only the subscription has it', () => {
    expect(hideFeature(values(SEATS))).toEqual({ ...NO_OVERRIDE, isHidden: true });
    expect(hideFeature(undefined)).toEqual(NO_OVERRIDE);
  });
  test('a removed privilege is hidden only where the plan grants the feature', () => {
    expect(hidePrivilege(values(SEATS), own({ sso: 'true' }), 'sso')).toEqual(
      own({}, { hiddenPrivileges: new Set(['sso']) }),
    );
    expect(hidePrivilege(undefined, own({ sso: 'true', max: '1' }), 'sso')).toEqual(own({ max: '1' }));
  });
});

test('entitlements are merged as in the example of the rules', () => {
  const plan = values(SEATS);
  let override = patchFeature(plan, NO_OVERRIDE, values({ max: '25' }));
  expect(shown(SEATS, override)).toEqual({ max: '25', sso: 'false' });
  override = patchFeature(plan, override, values({ max: '10', sso: 'false' }));
  expect(override).toEqual(NO_OVERRIDE);
  override = hidePrivilege(plan, override, 'sso');
  expect(shown(SEATS, override)).toEqual({ max: '10' });
  override = patchFeature(plan, override, values({ sso: 'true' }));
  expect(shown(SEATS, override)).toEqual({ max: '10', sso: 'true' });
});

// entitlements.md#routes: POST replaces, unless nothing is given; PATCH adds.
test.each<[string, Record<string, string>, Record<string, string>]>([
  ['replaced', { max: '5' }, { max: '5' }],
  ['replaced', {}, SEATS],
  ['added to', { max: '5' }, { max: '5', sso: 'false' }],
  ['added to', {}, SEATS],
])('a plan whose values are %s by %j grants %j', (how, given, expected) => {
  expect(Object.fromEntries(grantValues(values(SEATS), values(given), { replaces: how === 'replaced' }))).toEqual(
    expected,
  );
});
