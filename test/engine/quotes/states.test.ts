import { expect, test } from 'vitest';
import {
  canOrderFormMove,
  canOrderMove,
  canQuoteVersionMove,
  canVoidQuoteVersion,
  ORDER_FORM_STATUSES,
  ORDER_STATUSES,
  QUOTE_VERSION_STATUSES,
  QUOTE_VERSION_VOID_REASONS,
} from '../../../src/engine/quotes/quote-states.ts';

// quotes.md#lifecycle
const ALLOWED = {
  'quote version': ['draft → approved', 'draft → voided', 'approved → voided'],
  'order form': ['generated → signed', 'generated → expired', 'generated → voided'],
  order: ['created → executed', 'created → failed', 'failed → executed'],
};

const pairsOf = <State extends string>(states: readonly State[], allowed: readonly string[]) =>
  states.flatMap((from) =>
    states.map((to) => [allowed.includes(`${from} → ${to}`) ? 'may' : 'must not', from, to] as const),
  );

test.each(pairsOf(QUOTE_VERSION_STATUSES, ALLOWED['quote version']))(
  'a quote version %s move from %s to %s',
  (verdict, from, to) => {
    expect(canQuoteVersionMove(from, to)).toBe(verdict === 'may');
  },
);

test.each(pairsOf(ORDER_FORM_STATUSES, ALLOWED['order form']))(
  'an order form %s move from %s to %s',
  (verdict, from, to) => {
    expect(canOrderFormMove(from, to)).toBe(verdict === 'may');
  },
);

test.each(pairsOf(ORDER_STATUSES, ALLOWED.order))('an order %s move from %s to %s', (verdict, from, to) => {
  expect(canOrderMove(from, to)).toBe(verdict === 'may');
});

test('an approved quote version is voided only by a cascade, a draft never by one', () => {
  const voidable = QUOTE_VERSION_STATUSES.map((from) =>
    QUOTE_VERSION_VOID_REASONS.filter((reason) => canVoidQuoteVersion(from, reason)),
  );
  expect(voidable).toEqual([['manual', 'superseded'], ['cascade_of_expired', 'cascade_of_voided'], []]);
});
