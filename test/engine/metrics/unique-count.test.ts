import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { activeValues, uniqueCount } from '../../../src/engine/metrics/unique-count.ts';
import {
  combineUniqueRows,
  composeSummaries,
  summarizeOperations,
} from '../../../src/engine/metrics/unique-summary.ts';
import { type Operation, operationOf } from '../../../src/engine/metrics/usage-event.ts';

const operations = (text: string): { value: string; operation: Operation }[] =>
  text === ''
    ? []
    : text.split(', ').map((each) => {
        const [operation, value] = each.split(' ');
        return { operation: operationOf(operation!), value: value! };
      });

describe('unique count (aggregation.md#unique-count)', () => {
  test.each([
    ['', 0],
    ['add A, add A, add B', 2],
    ['remove A, add A', 1],
    ['add A, remove A', 0],
    ['add A, remove A, add A, add B, remove C', 2],
  ])('a unique count of %s is %s', (text, expected) => {
    const counted = uniqueCount(operations(text));
    expect([counted.units.toNumber(), counted.eventsCount]).toEqual([expected, expected]);
  });

  test.each([
    [null, 'add'],
    ['add', 'add'],
    ['remove', 'remove'],
    ['Remove', 'add'],
    ['', 'add'],
  ])('operation_type %s means %s', (text, expected) => {
    expect(operationOf(text)).toBe(expected);
  });

  test('members carried over from the former period stay', () => {
    expect(activeValues(operations('add A, add B, remove A'))).toEqual(new Set(['B']));
  });
});

describe('unique counts from hours', () => {
  test.each([
    // operations on one value → changes and end, when it was removed before; when it was there before
    [[], [0, 'removed'], [0, 'added']],
    [['add'], [1, 'added'], [0, 'added']],
    [['remove'], [0, 'removed'], [-1, 'removed']],
    [
      ['remove', 'add'],
      [1, 'added'],
      [0, 'added'],
    ],
    [
      ['add', 'remove'],
      [0, 'removed'],
      [-1, 'removed'],
    ],
    [
      ['add', 'add', 'remove', 'add'],
      [1, 'added'],
      [0, 'added'],
    ],
  ] as [Operation[], unknown, unknown][])('hours combine to the unique count: %j', (given, fromRemoved, fromAdded) => {
    const summary = summarizeOperations(given);
    expect([summary.changes_from_removed, summary.final_from_removed]).toEqual(fromRemoved);
    expect([summary.changes_from_added, summary.final_from_added]).toEqual(fromAdded);
  });

  const history = fc.array(
    fc.record({
      value: fc.constantFrom('A', 'B', 'C'),
      operation: fc.constantFrom<Operation>('add', 'remove'),
      endsHour: fc.boolean(),
    }),
    { maxLength: 30 },
  );

  test('any split into hours gives the unique count of the whole', () => {
    fc.assert(
      fc.property(history, (events) => {
        const hours: (typeof events)[] = [[]];
        for (const event of events) {
          hours.at(-1)!.push(event);
          if (event.endsHour) hours.push([]);
        }
        const rows = hours.flatMap((hour) =>
          [...new Set(hour.map(({ value }) => value))].map((value) => ({
            value,
            ...summarizeOperations(hour.filter((event) => event.value === value).map(({ operation }) => operation)),
          })),
        );
        // Written independently: a value counts when its last operation adds it.
        const last = new Map(events.map(({ value, operation }) => [value, operation]));
        const expected = [...last.values()].filter((operation) => operation === 'add').length;
        expect(combineUniqueRows(rows).units.toNumber()).toBe(expected);
        expect(uniqueCount(events).units.toNumber()).toBe(expected);
      }),
    );
  });

  test('combining hours is associative', () => {
    const summary = fc
      .array(fc.constantFrom<Operation>('add', 'remove'), { maxLength: 4 })
      .map((given) => summarizeOperations(given));
    fc.assert(
      fc.property(summary, summary, summary, (a, b, c) => {
        expect(composeSummaries(composeSummaries(a, b), c)).toEqual(composeSummaries(a, composeSummaries(b, c)));
      }),
    );
  });
});
