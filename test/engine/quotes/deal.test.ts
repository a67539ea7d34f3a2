import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { dealDay, dealInstant, earliestEnd } from '../../../src/engine/quotes/deal-dates.ts';
import { documentNumber } from '../../../src/engine/quotes/document-number.ts';

test.each([
  ['quote', '2026-05-01T00:00:00Z', 1, 'QT-2026-0001'],
  ['order_form', '2026-12-31T23:59:59Z', 42, 'OF-2026-0042'],
  ['order', '2027-01-01T00:00:00Z', 12345, 'OR-2027-12345'],
] as const)('a document number of a %s has its form', (document, at, sequence, number) => {
  expect(documentNumber(document, Temporal.Instant.from(at), sequence)).toBe(number);
});

test.each([
  // text                        zone                day           instant
  ['2026-06-01', 'America/New_York', '2026-06-01', '2026-06-01T04:00:00Z'],
  ['2026-06-01T02:00:00Z', 'America/New_York', '2026-05-31', '2026-06-01T02:00:00Z'],
  ['2026-06-01', 'UTC', '2026-06-01', '2026-06-01T00:00:00Z'],
])('a day of a deal: %s in %s', (text, zone, day, instant) => {
  expect(dealDay(text, zone).toString()).toBe(day);
  expect(dealInstant(text, zone).toString()).toBe(instant);
});

test('a deal ends at its earliest end, in local days', () => {
  expect(earliestEnd(['2026-06-02', '2026-06-02T01:00:00Z'], 'America/New_York')?.toString()).toBe('2026-06-01');
  expect(earliestEnd([], 'UTC')).toBeNull();
});
