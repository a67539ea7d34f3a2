import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { afterReport, afterSending } from '../../../../../src/areas/documents/e-documents/transmissions/take-steps.ts';
import { realNowMs } from '../../../../../src/platform/clock/real-clock.ts';
import { canMove, type Reported, TRANSMISSION_STATUSES } from '../../../../../src/platform/senders/port.ts';
import { sandboxSender } from '../../../../../src/platform/senders/sandbox.ts';

// What becomes of a sending: docs/rules/e-documents.md "sending".
const QUEUED = Temporal.Instant.from('2026-03-01T10:00:00Z');
const at = (text: string) => Temporal.Instant.from(text);
const trace = { httpStatus: null, body: null };
const fault = { code: 'unreachable', message: 'Nobody answers.' };

const MOVES = [
  ...['queued sent', 'queued failed', 'sent delivered', 'sent accepted', 'sent rejected', 'sent paid_reported'],
  ...['sent failed', 'delivered accepted', 'delivered rejected', 'delivered paid_reported', 'accepted paid_reported'],
];

test('a sending moves forward only', () => {
  const moves = TRANSMISSION_STATUSES.flatMap((from) =>
    TRANSMISSION_STATUSES.filter((to) => canMove(from, to)).map((to) => `${from} ${to}`),
  );
  expect(moves.sort()).toEqual([...MOVES].sort());
});

describe('a document that nobody took', () => {
  test.each([
    [0, '2026-03-01T10:00:00Z', '2026-03-01T10:01:00Z'],
    [1, '2026-03-01T10:01:00Z', '2026-03-01T10:06:00Z'],
    [2, '2026-03-01T10:06:00Z', '2026-03-01T10:21:00Z'],
    [3, '2026-03-01T10:21:00Z', '2026-03-01T11:21:00Z'],
    [4, '2026-03-01T11:21:00Z', '2026-03-01T14:21:00Z'],
    [5, '2026-03-01T14:21:00Z', '2026-03-01T20:21:00Z'],
    [15, '2026-03-04T04:00:00Z', '2026-03-04T10:00:00Z'],
  ])('after %s tries before, at %s, it is tried again at %s', (attempts, now, next) => {
    const found = { status: 'queued', attempts, queued_at: QUEUED } as const;
    const change = afterSending(found, { kind: 'unreachable', fault, trace }, at(now));
    expect({ ...change, nextAt: change.nextAt?.toString() }).toEqual({ status: 'queued', error: fault, nextAt: next });
  });

  test('after three days it has failed with the last reason', () => {
    const found = { status: 'queued', attempts: 16, queued_at: QUEUED } as const;
    const change = afterSending(found, { kind: 'unreachable', fault, trace }, at('2026-03-04T04:00:01Z'));
    expect(change).toEqual({ status: 'failed', error: fault, nextAt: null });
  });

  test('a refusal ends it at once, but not that of the credentials', () => {
    const found = { status: 'queued', attempts: 0, queued_at: QUEUED } as const;
    const sent = (isUnauthorized: boolean) =>
      afterSending(found, { kind: 'refused', fault, trace, isUnauthorized }, QUEUED).status;
    expect([sent(false), sent(true)]).toEqual(['failed', 'queued']);
  });
});

describe('a document that was taken', () => {
  const reported = (from: Reported, to: Reported, now = '2026-03-01T10:10:00Z') => {
    const change = afterReport(
      { status: from, attempts: 3, queued_at: QUEUED, error: null },
      { kind: 'answered', answer: { status: to, reason: null }, trace },
      at(now),
    );
    return [change.status, change.isIgnored, change.nextAt?.toString() ?? null];
  };

  test.each([
    ['sent', 'sent', 'sent', false, '2026-03-01T10:15:00Z'],
    ['sent', 'delivered', 'delivered', false, '2026-03-01T10:15:00Z'],
    ['delivered', 'sent', 'delivered', true, '2026-03-01T10:15:00Z'],
    ['accepted', 'rejected', 'accepted', true, '2026-03-01T10:15:00Z'],
    ['delivered', 'rejected', 'rejected', false, null],
    ['accepted', 'paid_reported', 'paid_reported', false, null],
  ] as const)('%s, then reported %s: it is %s', (from, to, status, isIgnored, next) => {
    expect(reported(from, to)).toEqual([status, isIgnored, next]);
  });

  test.each([
    ['2026-03-01T10:01:00Z', '2026-03-01T10:02:00Z'],
    ['2026-03-05T10:00:00Z', '2026-03-05T16:00:00Z'],
    ['2026-03-31T10:00:00Z', '2026-03-31T16:00:00Z'],
    ['2026-03-31T10:00:01Z', null],
  ])('asked about at %s, it is asked about again at %s', (now, next) => {
    expect(reported('sent', 'sent', now)[2]).toBe(next);
  });

  test('a rejection without a reason has one of its own', () => {
    const found = { status: 'sent', attempts: 1, queued_at: QUEUED, error: null } as const;
    const answer = { status: 'rejected', reason: null } as const;
    expect(afterReport(found, { kind: 'answered', answer, trace }, QUEUED).error).toMatchObject({ code: 'rejected' });
  });
});

test.each([
  ['0088123', 59, 'sent'],
  ['0088123', 60, 'delivered'],
  ['0000000000', 60, 'rejected'],
  ['9999999999', 86_400, 'sent'],
])('the access point of sandboxes: address %s after %s seconds is %s', async (id, seconds, status) => {
  const sender = sandboxSender();
  const taken = await sender.send({ id: 'document', receiver: { scheme: '0088', id } } as never);
  const providerId = taken.kind === 'answered' ? taken.answer.providerId : '';
  const parts = providerId.split('.');
  parts[1] = String(Math.trunc(realNowMs()) - seconds * 1000 + (status === 'sent' && seconds < 60 ? 500 : 0));
  const outcome = await sender.status(parts.join('.'));
  expect(outcome.kind === 'answered' && outcome.answer.status).toBe(status);
});
