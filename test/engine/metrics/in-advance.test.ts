import { describe, expect, test } from 'vitest';
import {
  eventUnits,
  NO_RECORD,
  proratedUsageInAdvance,
  type RunningRecord,
  uniqueChange,
  usageInAdvance,
} from '../../../src/engine/metrics/running-record.ts';
import type { Operation } from '../../../src/engine/metrics/usage-event.ts';
import { type Decimal, decimal, ONE, ZERO } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';
import { proration } from './build.ts';

/** Billed and shown units of successive changes, and the last record. */
function walk(changes: readonly (string | Decimal)[]) {
  let record: RunningRecord | undefined;
  const steps = changes.map((change) => {
    const { billed, units, record: next } = eventUnits(decimal(change), record);
    record = next;
    return [billed.toFixed(), units.toFixed()];
  });
  return { steps, record: record! };
}

describe('units of one event (in-advance.md#units-of-one-event)', () => {
  test.each([
    [
      '88: a sum',
      ['10', '-4', '8'],
      [
        ['10', '10'],
        ['0', '0'],
        ['4', '4'],
      ],
    ],
    [
      'an event below the highest units',
      ['10', '-4', '2'],
      [
        ['10', '10'],
        ['0', '0'],
        ['0', '2'],
      ],
    ],
    [
      'a first negative event does not lower the maximum',
      ['-4', '3', '5'],
      [
        ['0', '0'],
        ['0', '3'],
        ['4', '4'],
      ],
    ],
    [
      'a count',
      ['1', '1'],
      [
        ['1', '1'],
        ['1', '1'],
      ],
    ],
  ])('units of events, %s: %j', (_case, changes, expected) => {
    expect(walk(changes).steps).toEqual(expected);
  });

  test('a unique count bills a member when it is added (golden case 99)', () => {
    const sequence: [Operation, string][] = [
      ['add', '1'],
      ['remove', '1'],
      ['add', '1'],
      ['add', '2'],
      ['add', '2'],
      ['add', '3'],
      ['remove', '3'],
    ];
    const active = new Set<string>();
    const changes = sequence.map(([operation, value]) => {
      const change = uniqueChange(operation, active.has(value));
      if (operation === 'add') active.add(value);
      else active.delete(value);
      return change;
    });
    const { steps, record } = walk(changes);
    expect(steps.map(([billed]) => billed)).toEqual(['1', '0', '0', '1', '0', '1', '0']);
    expect(steps.map(([, units]) => units)).toEqual(['1', '0', '1', '1', '0', '1', '0']);
    expect([record.current.toFixed(), record.max.toFixed()]).toEqual(['2', '3']);
  });

  test('a seat carried over, removed and added again is not billed again', () => {
    const { steps, record } = walk([uniqueChange('remove', true), uniqueChange('add', false)]);
    expect(steps).toEqual([
      ['0', '0'],
      ['0', '1'],
    ]);
    expect([record.current.toFixed(), record.max.toFixed()]).toEqual(['0', '0']);
  });

  test('removing a member that is not there changes nothing', () => {
    expect(uniqueChange('remove', false).isZero()).toBe(true);
  });

  const FEBRUARY = proration('2024-02-01', '2024-02-29', { periodDays: 29 });

  test('a seat is billed for the days from the 23rd of 29 days (golden case 84)', () => {
    const weighing = {
      at: instant('2024-02-23T01:02'),
      proration: proration('2024-02-23T01:00', '2024-02-29', { periodDays: 29 }),
    };
    const { billed, units, record } = eventUnits(ONE, undefined, weighing);
    expect([billed.toFixed(), units.toFixed(), record.maxProrated.toFixed()]).toEqual(['0.24138', '1', '0.24138']);
  });

  test('a prorated sum in advance shows its units in current usage (golden case 85)', () => {
    const weighing = { at: instant('2024-02-06T08:00'), proration: FEBRUARY };
    let record: RunningRecord | undefined;
    let net = ZERO;
    const steps = ['10', '-5', '2'].map((change) => {
      const event = eventUnits(decimal(change), record, weighing);
      record = event.record;
      net = net.plus(change);
      const usage = proratedUsageInAdvance({ units: net, fullUnits: net }, record, FEBRUARY);
      return [event.billed, event.units, usage.fullUnits, usage.units].map((value) => value.toFixed());
    });
    expect(steps).toEqual([
      ['8.27587', '10', '10', '8.27587'],
      ['0', '0', '5', '8.27587'],
      ['0', '2', '7', '8.27587'],
    ]);
  });
});

describe('current usage in advance (in-advance.md#units-of-one-event)', () => {
  test.each([
    ['is the net units without a record', '6', undefined, '6', '6'],
    ['includes what was given back', '5', { current: '5', max: '10' }, '10', '5'],
    ['includes what was carried over', '8', { current: '-1', max: '2' }, '11', '8'],
    ['is 0 with net units below 0', '-2', { current: '-2', max: '0' }, '0', '0'],
  ])('current usage in advance %s', (_case, net, record, units, shown) => {
    const former = record && { ...NO_RECORD, current: decimal(record.current), max: decimal(record.max) };
    const usage = usageInAdvance(decimal(net), former);
    expect([usage.units.toFixed(), usage.fullUnits.toFixed()]).toEqual([units, shown]);
  });

  const JULY = proration('2024-07-01', '2024-07-31');

  test.each([
    // full units, weighed, period, record → priced, shown
    ['a full period bills carried units in full', '5', '4', JULY, undefined, '5', '5'],
    [
      'a partial period is weighted by days',
      '5',
      '2.74194',
      proration('2024-07-15T10:00', '2024-07-31'),
      undefined,
      '2.74194',
      '5',
    ],
    [
      'carried 5, another one on the 12th',
      '6',
      '0',
      JULY,
      { current: '1', max: '1', maxProrated: '0.64517' },
      '5.64517',
      '6',
    ],
    ['a removed one carried over', '4', '0', JULY, { current: '-1', max: '0', maxProrated: '0' }, '4', '4'],
    ['all given back', '0', '0', JULY, { current: '0', max: '1', maxProrated: '0.24138' }, '0.24138', '0'],
  ])('prorated current usage in advance: %s', (_case, full, weighed, terms, record, units, shown) => {
    const former = record && {
      current: decimal(record.current),
      max: decimal(record.max),
      maxProrated: decimal(record.maxProrated),
    };
    const usage = proratedUsageInAdvance({ units: decimal(weighed), fullUnits: decimal(full) }, former, terms);
    expect([usage.units.toFixed(), usage.fullUnits.toFixed()]).toEqual([units, shown]);
  });
});
