import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { type ChainAggregation, type ChainLink, walkChain } from '../../../src/engine/metrics/event-chain.ts';
import { NO_RECORD } from '../../../src/engine/metrics/running-record.ts';
import { ZERO } from '../../../src/engine/money/decimal.ts';

/** Events billed one after the other; `hour` is when each happened, in the order of arrival unless it is given. */
const chain = (values: readonly (string | null)[], hours: readonly number[] = []): ChainLink[] =>
  values.map((value, index) => ({
    eventId: `${index}0`,
    recordId: `${index}1`,
    timestamp: Temporal.Instant.from('2024-03-10T00:00:00Z').add({ hours: hours[index] ?? index }),
    record: NO_RECORD,
    counted:
      value === null
        ? null
        : { value: value.replace('−', ''), operation: value.startsWith('−') ? 'remove' : 'add', amount: ZERO },
  }));

const billed = (links: readonly ChainLink[], aggregation: ChainAggregation, since = '') =>
  walkChain(links, { aggregation, weighing: () => undefined, since }).map(
    (step) => step.billed && `${step.billed.event.billed}/${step.billed.event.units}/${step.billed.units}`,
  );

test.each([
  ['units given back (golden-usage.md#in-advance)', ['10', '-4', '8'], ['10/10/10', '0/0/6', '4/4/14']],
  ['the first amended (CO7)', ['12', '-4', '8'], ['12/12/12', '0/0/8', '4/4/16']],
  ['the first retracted', [null, '-4', '8'], [undefined, '0/0/-4', '4/4/4']],
])('events of a sum are billed one after the other: %s', (_name, values, expected) => {
  expect(billed(chain(values), 'sum_agg')).toEqual(expected);
});

test('a unique value that is given back and used again is not billed twice (in-advance.md#units-of-one-event)', () => {
  const links = chain(['1', '−1', '1', '2', '2', '3', '−3']);
  expect(billed(links, 'unique_count_agg')).toEqual(['1/1/1', '0/0/0', '0/1/1', '1/1/2', '0/0/2', '1/1/3', '0/0/2']);
  const [first, ...others] = links;
  expect(billed([{ ...first!, counted: null }, ...others], 'unique_count_agg')).toEqual(
    // The first one to use anything is billed now, and a value that was never in use cannot be given back.
    [undefined, '0/0/0', '1/1/1', '1/1/2', '0/0/2', '1/1/3', '0/0/2'],
  );
});

test('an event is priced after those that had arrived and are not later', () => {
  // The third happened before the second, which had been billed by then.
  expect(billed(chain(['1', '1', '1'], [0, 5, 2]), 'count_agg')).toEqual(['1/1/1', '1/1/2', '1/1/2']);
});

test('repricing a chain leaves unchanged what was billed before its start', () => {
  const links = chain(['10', '-4', '8']).map((link, index) =>
    index === 0 ? { ...link, record: { ...NO_RECORD, current: ZERO.plus(10), max: ZERO.plus(10) } } : link,
  );
  expect(billed(links, 'sum_agg', '11')).toEqual(['0/0/6', '4/4/14']);
});

test('units carried over from earlier periods count and are not billed again', () => {
  const [carried, ...own] = chain(['1', '1', '2']);
  const links = [{ ...carried!, recordId: '', isCarried: true }, ...own];
  expect(billed(links, 'unique_count_agg')).toEqual(['0/0/1', '1/1/2']);
  expect(billed([{ ...links[0]!, counted: null }, ...own], 'unique_count_agg')).toEqual(['1/1/1', '1/1/2']);
});
