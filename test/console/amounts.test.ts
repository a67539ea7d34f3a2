import { expect, test } from 'vitest';
import { curlOf } from '../../console/frame/requests.ts';
import { routeOf } from '../../console/frame/route.ts';
import { agentWords } from '../../console/parts/agent.ts';
import { averagePrice, changeOf, decimal, money } from '../../console/parts/amounts.ts';
import { moved } from '../../console/parts/moved.ts';
import { percentOf } from '../../console/rooms/home/overview.ts';

test('the curl line of a request quotes what a shell would read otherwise (CO19)', () => {
  const body = { customer: { external_id: 'ada', name: "Ada's shop" } };
  expect(curlOf({ method: 'POST', path: '/customers', body }, 'https://billing.example.com')).toBe(
    `curl -sS -X POST 'https://billing.example.com/api/v1/customers' -H "Authorization: Bearer $KEY" ` +
      `-H 'Content-Type: application/json' -d '{"customer":{"external_id":"ada","name":"Ada'\\''s shop"}}'`,
  );
});

test.each<[number, number, string | undefined]>([
  [12345, 11000, '+12.2 %'],
  [11000, 12345, '−10.9 %'],
  [1000, 1000, '±0.0 %'],
  [1, 3000, '−100.0 %'],
  [100, 0, undefined],
  [20005, 20000, '±0.0 %'],
  [20010, 20000, '+0.1 %'],
])('%i cents against %i are a change of %s (CO16)', (now, before, expected) => {
  expect(changeOf(now, before)).toBe(expected);
});

test.each<[string, { days?: number; months?: number }, string]>([
  ['2024-01-31T00:00:00Z', { months: 1 }, '2024-02-29T00:00:00Z'],
  ['2024-02-29T12:00:00Z', { months: 12 }, '2025-02-28T12:00:00Z'],
  ['2024-03-30T23:00:00Z', { days: 1 }, '2024-03-31T23:00:00Z'],
  ['2024-12-31T23:59:59Z', { days: 7 }, '2025-01-07T23:59:59Z'],
])('the clock at %s moved by %j stands at %s (CO24)', (at, by, expected) => {
  expect(moved(at, by)).toBe(expected);
});

test('amounts take their decimals from the currency of the service, not from the browser', () => {
  expect(money(123456, 'USD')).toBe('$1,234.56');
  expect(money(-5, 'USD')).toBe('−$0.05');
  expect(money(123456, 'JPY')).toBe('¥123,456');
  expect(money(123456, 'KWD')).toMatch(/^KWD\s123\.456$/);
  expect(money(123456, 'HUF')).toMatch(/1,234\.56/);
  expect(money(9007199254740991, 'USD')).toBe('$90,071,992,547,409.91');
});

test('a price keeps every digit that was typed', () => {
  expect(decimal('0.0000125')).toBe('0.0000125');
  expect(decimal('12500.500')).toBe('12,500.5');
  expect(decimal('123456789012345678901234567890.10')).toBe('123,456,789,012,345,678,901,234,567,890.1');
});

test('an address names organization, room, record and tab, and a broken sequence stays as it is', () => {
  expect(routeOf('/console/o/acme/customers/a%2Fb/invoices?page=2')).toMatchObject({
    slug: 'acme',
    room: 'customers',
    id: 'a/b',
    tab: 'invoices',
  });
  expect(routeOf('/console/o/acme')).toMatchObject({ room: 'home', id: undefined });
  expect(routeOf('/console/o/acme/customers/%E0%A4%A')).toMatchObject({ id: '%E0%A4%A' });
  expect(routeOf('/console')).toMatchObject({ slug: undefined });
});

test.each([
  ['0.8571', '85.71 %'],
  ['1.0000', '100.00 %'],
  ['0.0000', '0.00 %'],
  ['0.0050', '0.50 %'],
  [null, '–'],
])('the rate %s of collection is shown as %s (CO15)', (rate, shown) => {
  expect(percentOf(rate)).toBe(shown);
});

test('a price that is a quotient ends after six digits that count, and says so', () => {
  expect(averagePrice('0.220566037735849', 'USD')).toBe('≈ $0.220566');
  expect(averagePrice('0.000000220566037735', 'USD')).toBe('≈ $0.000000220566');
  expect(averagePrice('0.0000125', 'USD')).toBe('$0.0000125');
  expect(averagePrice('0.05', 'USD')).toBe('$0.05');
});

test('a browser is named in short, a program by its beginning', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
  expect(agentWords(chrome)).toBe('Chrome 156, Linux');
  expect(agentWords('curl/8.14.1')).toBe('curl/8.14.1');
  expect(agentWords(null)).toBe('–');
});
