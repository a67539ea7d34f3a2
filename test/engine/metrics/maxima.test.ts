import { describe, expect, test } from 'vitest';
import { bucketOfEvents, type StoredValue } from '../../../src/engine/metrics/bucket-of-events.ts';
import { combineLatest } from '../../../src/engine/metrics/latest.ts';
import { combineMaxima } from '../../../src/engine/metrics/max.ts';
import { combineSums } from '../../../src/engine/metrics/sum.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';

const HOUR = '2024-03-05T10:00';

/** Events a second apart; null is no number. */
const events = (...texts: (string | null)[]): StoredValue[] =>
  texts.map((text, index) => ({
    id: String(index),
    created_at: instant(HOUR),
    timestamp: instant(HOUR).add({ seconds: index }),
    value: text === null ? undefined : decimal(text),
  }));
const bucket = (...texts: (string | null)[]) => bucketOfEvents(events(...texts), instant(HOUR));
const figures = ({ units, eventsCount }: ReturnType<typeof combineMaxima>) => [units.toFixed(), eventsCount];

describe('maximum', () => {
  test('the greatest value counts (golden case 8)', () => {
    expect(figures(combineMaxima([bucket('3', '7', '5')]))).toEqual(['7', 3]);
    expect(figures(combineMaxima([bucket('3'), bucket(null), bucket('7', '5')]))).toEqual(['7', 3]);
  });

  test('a maximum may be negative and is 0 without a number', () => {
    expect(figures(combineMaxima([bucket('-3'), bucket('-2.5')]))).toEqual(['-2.5', 2]);
    expect(figures(combineMaxima([bucket(null)]))).toEqual(['0', 0]);
    expect(figures(combineMaxima([]))).toEqual(['0', 0]);
  });
});

describe('latest value', () => {
  test.each([
    ['is that of the last event (golden case 9)', ['3', '7', '5'], '5', 3],
    ['is 0 when it is negative (golden case 10)', ['5', '-2'], '0', 2],
    ['leaves out texts that are no numbers', ['5', '4', null], '4', 2],
    ['is 0 without events', [], '0', 0],
  ])('the latest value %s', (_case, texts, units, count) => {
    expect(figures(combineLatest([bucket(...texts)]))).toEqual([units, count]);
    expect(figures(combineLatest(events(...texts).map((event) => bucketOfEvents([event], event.timestamp))))).toEqual([
      units,
      count,
    ]);
  });

  test('of equal timestamps the event received later is the latest, then the greater id', () => {
    const [base] = events('1');
    const received = { ...base!, id: 'a', value: decimal(2), created_at: instant('2024-03-05T10:01') };
    const numbered = { ...received, id: 'b', value: decimal(3) };
    const buckets = [base!, numbered, received].map((event) => bucketOfEvents([event], instant(HOUR)));
    expect(figures(combineLatest(buckets))).toEqual(['3', 3]);
    expect(figures(combineLatest(buckets.toReversed()))).toEqual(['3', 3]);
    expect(figures(combineLatest([buckets[0]!, buckets[2]!]))).toEqual(['2', 2]);
  });
});

describe('recurring sum', () => {
  test('January, February and March each bill all events up to their ends (golden case 86)', () => {
    const january = bucket('10');
    const february = bucket('-4');
    expect(figures(combineSums([january]))).toEqual(['10', 1]);
    expect(figures(combineSums([january, february]))).toEqual(['6', 2]);
  });

  test('a text that is not a number is neither summed nor counted (golden case 11)', () => {
    expect(figures(combineSums([bucket('5', null, null, '2')]))).toEqual(['7', 2]);
  });
});
