import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { judgePayment, judgeRefund, type OurPayment } from '../../../src/areas/payments/reconcile-providers/judge.ts';

// What differs between a provider's record and ours: provider-reconciliation.md#drifts.
const NOW = Temporal.Instant.from('2026-03-01T12:00:00Z');
const LONG_AGO = Temporal.Instant.from('2026-03-01T10:59:59Z');
const JUST_NOW = Temporal.Instant.from('2026-03-01T11:00:01Z');

const ours = (fields: Partial<OurPayment>): OurPayment => ({
  payment_status: 'processing',
  amount_cents: 1200,
  amount_currency: 'EUR',
  applied_cents: 0,
  is_second: false,
  reversed_at: null,
  cancel_owed_at: null,
  updated_at: LONG_AGO,
  ...fields,
});
const theirs = { state: 'succeeded', currency: 'EUR', amountCents: 1200 } as const;

describe('states', () => {
  test.each([
    // ours         theirs        changed here  verdict
    ['processing', 'succeeded', LONG_AGO, { kind: 'status_differs', repairsItself: true }],
    ['processing', 'failed', LONG_AGO, { kind: 'status_differs', repairsItself: true }],
    ['pending', 'succeeded', LONG_AGO, { kind: 'status_differs', repairsItself: true }],
    ['processing', 'succeeded', JUST_NOW, 'later'],
    ['pending', 'processing', LONG_AGO, 'equal'],
    ['processing', 'processing', LONG_AGO, 'equal'],
    ['succeeded', 'succeeded', LONG_AGO, 'equal'],
    ['failed', 'failed', LONG_AGO, 'equal'],
    ['succeeded', 'failed', LONG_AGO, { kind: 'status_differs' }],
    ['succeeded', 'processing', LONG_AGO, { kind: 'status_differs' }],
    ['failed', 'succeeded', LONG_AGO, { kind: 'status_differs' }],
    ['failed', 'processing', LONG_AGO, { kind: 'status_differs' }],
  ] as const)('ours %s and theirs %s, changed here at %s: %j', (here, state, updated_at, verdict) => {
    expect(judgePayment(ours({ payment_status: here, updated_at }), { ...theirs, state }, NOW)).toEqual(verdict);
  });

  test('money that the bank took back is not in again because the provider once said so', () => {
    const payment = ours({ payment_status: 'failed', reversed_at: LONG_AGO });
    expect(judgePayment(payment, theirs, NOW)).toBe('equal');
  });

  test('a payment that was given up may be in progress there until it is cancelled', () => {
    const payment = ours({ payment_status: 'failed', cancel_owed_at: LONG_AGO });
    expect(judgePayment(payment, { ...theirs, state: 'processing' }, NOW)).toBe('equal');
    expect(judgePayment(payment, theirs, NOW)).toEqual({ kind: 'status_differs' });
  });

  test('the second payment of the same invoice that settles nothing is a double payment', () => {
    const second = { payment_status: 'succeeded', is_second: true } as const;
    expect(judgePayment(ours({ ...second, applied_cents: 0 }), theirs, NOW)).toEqual({ kind: 'double_payment' });
    expect(judgePayment(ours({ ...second, applied_cents: 1 }), theirs, NOW)).toBe('equal');
  });
});

describe('money', () => {
  test.each([
    [{ amountCents: 1199 }, 'amount_differs'],
    [{ amountCents: null }, 'amount_differs'],
    [{ received: { currency: 'EUR', amountCents: 600 } }, 'amount_differs'],
    [{ received: { currency: 'EUR', amountCents: null } }, 'amount_differs'],
    [{ currency: 'USD' }, 'currency_differs'],
    [{ received: { currency: 'USD', amountCents: 1200 } }, 'currency_differs'],
  ])('%j is %s, whatever the state', (fields, kind) => {
    for (const state of ['processing', 'succeeded', 'failed'] as const)
      expect(judgePayment(ours({ updated_at: JUST_NOW }), { ...theirs, ...fields, state }, NOW)).toEqual({ kind });
  });
});

describe('refunds', () => {
  const refund = { refund_status: 'pending', refund_amount_cents: 500, currency: 'EUR', updated_at: LONG_AGO } as const;
  test.each([
    [refund, { state: 'succeeded' }, { kind: 'refund_status_differs' }],
    [refund, { state: 'failed' }, { kind: 'refund_status_differs' }],
    [refund, { state: 'pending' }, 'equal'],
    [{ ...refund, updated_at: JUST_NOW }, { state: 'succeeded' }, 'later'],
    [{ ...refund, refund_status: 'succeeded' }, { state: 'failed' }, { kind: 'refund_status_differs' }],
    [{ ...refund, refund_status: 'succeeded' }, { state: 'pending' }, 'equal'],
    [refund, { state: 'succeeded', amountCents: 499 }, { kind: 'amount_differs' }],
    [refund, { state: 'succeeded', currency: 'USD' }, { kind: 'currency_differs' }],
  ] as const)('%j against %j: %j', (here, there, verdict) => {
    expect(judgeRefund(here, there, NOW)).toEqual(verdict);
  });
});
