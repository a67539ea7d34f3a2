import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { notesOf } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('notes of every kind leave books in which the auditor finds nothing', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.tax(19.6);
  await story.customer();
  await story.plan({ pay_in_advance: true, amount_cents: 2999 });
  await story.plan({ pay_in_advance: true, amount_cents: 8999, code: 'big' });
  await story.subscribe();
  await story.subscribe({ external_id: 'two' });
  await story.invoices(2);

  await story.advanceTo('2024-02-12T10:00:00Z');
  await story.subscribe({ plan_code: 'big' });
  await story.client.delete('/subscriptions/two?on_termination_credit_note=offset');
  const [offset, paid, voided, given] = [
    await story.oneOff(333),
    await story.oneOff(777),
    await story.oneOff(1001),
    await story.oneOff(501),
  ];
  await story.credit(offset, 333, { offset_amount_cents: 398 });
  await story.pay(paid.svc_id, 929);
  const refunded = await story.credit(paid, 100, { refund_amount_cents: 120 });
  await story.client.put(`/credit_notes/${refunded.body.credit_note.svc_id}`, {
    credit_note: { refund_status: 'succeeded' },
  });
  await story.pay(voided.svc_id, 700);
  const asked = { generate_credit_note: true, credit_amount: 333, refund_amount: 77 };
  expect((await story.client.post(`/invoices/${voided.svc_id}/void`, asked)).status).toBe(200);
  const forfeited = await story.credit(given, 250, { credit_amount_cents: 299 });
  await story.client.put(`/credit_notes/${forfeited.body.credit_note.svc_id}/void`);
  await story.advanceTo('2024-03-02T00:00:00Z');
  expect((await notesOf(story)).length).toBeGreaterThanOrEqual(7);

  const { body } = await story.client.post('/audits', { audit: { mode: 'full' } });
  await until(async () => {
    const { audit } = (await story.client.get(`/audits/${body.audit.svc_id}`)).body;
    return audit.status === 'succeeded' || undefined;
  });
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}, 60_000);
