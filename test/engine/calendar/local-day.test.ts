import { expect, test } from 'vitest';
import { dayEnd, dayStart, isZone, localDate } from '../../../src/engine/calendar/local-day.ts';
import { isEmpty, lastInstant, periodThrough, shownEnd, shownStart } from '../../../src/engine/calendar/period.ts';
import { date, instant } from './build.ts';

test.each([
  ['an ordinary day', '2024-04-01', 'Europe/Paris', '2024-03-31T22:00:00Z', '2024-04-01T22:00:00Z'],
  ['a day of 23 hours', '2024-03-31', 'Europe/Paris', '2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z'],
  [
    'a day whose midnight is skipped',
    '2018-11-04',
    'America/Sao_Paulo',
    '2018-11-04T03:00:00Z',
    '2018-11-05T02:00:00Z',
  ],
  ['a day whose midnight comes twice', '2024-11-03', 'America/Havana', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
  ['a day that the zone skipped', '2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z'],
])('%s, %s in %s, lasts from %s to %s', (_name, day, zone, start, end) => {
  expect(dayStart(date(day), zone).toString()).toBe(start);
  expect(dayEnd(date(day), zone).toString()).toBe(end);
});

test('a local date belongs to its zone', () => {
  expect(localDate(instant('2023-06-16T05:00Z'), 'America/Denver').toString()).toBe('2023-06-15');
  expect(localDate(instant('2023-06-16T20:00Z'), 'Asia/Karachi').toString()).toBe('2023-06-17');
});

test('days of a zone stay right when more are requested than are cached', () => {
  for (let day = 0; day < 2_500; day += 1) dayStart(date('2020-01-01').add({ days: day }), 'Asia/Kolkata');
  expect(dayStart(date('2020-01-01'), 'Asia/Kolkata').toString()).toBe('2019-12-31T18:30:00Z');
});

test('the shown end of a period is its last second', () => {
  const march = periodThrough(instant('2024-03-01T01:00:00.75'), instant('2024-03-31T23:59:59.999999'));
  expect(march.to.toString()).toBe('2024-04-01T00:00:00Z');
  expect(shownStart(march).toString()).toBe('2024-03-01T01:00:00Z');
  expect(shownEnd(march).toString()).toBe('2024-03-31T23:59:59Z');
});

test('the shown end of a period cut by a termination is the second of the termination', () => {
  const cut = periodThrough(instant('2024-04-24T11:00'), instant('2024-04-26T11:00'));
  expect(cut.to.toString()).toBe('2024-04-26T11:00:00.000001Z');
  expect(shownEnd(cut).toString()).toBe('2024-04-26T11:00:00Z');
});

test('a period that ends where it starts is empty and shows one instant', () => {
  const none = periodThrough(instant('2024-01-30'), instant('2024-01-30'));
  expect(isEmpty(none)).toBe(true);
  expect(lastInstant(none).toString()).toBe('2024-01-30T00:00:00Z');
  expect(shownEnd(none).toString()).toBe('2024-01-30T00:00:00Z');
});

test.each(['UTC', 'Europe/Paris', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])('%s is a time zone', (zone) => {
  expect(isZone(zone)).toBe(true);
});

test.each(['Mars/Olympus', '', '+02:00', '2024-01-01T00:00Z', '2024-01-01T00:00[Europe/Paris]', ' UTC'])(
  '"%s" is not a time zone',
  (zone) => {
    expect(isZone(zone)).toBe(false);
  },
);
