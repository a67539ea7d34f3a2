import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#event-trace.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-09-01T00:00:00Z');
  const calls = await story.metric('calls');
  const seats = await story.metric('seats');
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: calls.svc_id,
        charge_model: 'standard',
        properties: { amount: '2', pricing_group_keys: ['region'] },
      },
      { billable_metric_id: seats.svc_id, charge_model: 'standard', pay_in_advance: true, properties: { amount: '7' } },
    ],
  });
  for (const external_id of ['ada', 'zed']) {
    await story.customer({ external_id });
    await ok(story.subscribe({ external_customer_id: external_id, external_id: `${external_id}-1` }));
  }
});
afterAll(() => service.stop());

const send = (transaction_id: string, code: string, properties: object = {}, external_subscription_id = 'ada-1') =>
  ok(story.client.post('/events', { event: { transaction_id, code, external_subscription_id, properties } }));
const trace = (id: string, query = '') => story.client.get(`/events/${id}/trace${query}`);

test('an event of a running period has its charge, group and window, and no invoice yet', async () => {
  await send('t1', 'calls', { region: 'eu' });
  await send('t2', 'calls', { region: 'us' });
  await send('t3', 'calls', { region: 'us' });
  const { body } = await trace('t1');
  expect(body.trace).toMatchObject({
    event: { transaction_id: 't1', code: 'calls', external_subscription_id: 'ada-1' },
    received_at: '2026-09-01T00:00:00Z',
    verdict: { outcome: 'counted', billable_metric_code: 'calls', external_customer_id: 'ada' },
    versions_count: 1,
    unmatched: null,
    charges: [
      {
        charge_code: 'calls',
        group: { region: 'eu' },
        value: '1.0',
        window: { from: '2026-09-01T00:00:00Z', to: '2026-09-30T23:59:59Z' },
        invoice: null,
        fee: null,
      },
    ],
    in_advance_fees: [],
    corrections: [],
    wallet: null,
    alerts: [],
  });
});

test('an event that is billed in advance shows the fee that it made', async () => {
  await send('s1', 'seats');
  await story.advanceTo('2026-09-02T00:00:00Z');
  const { trace: shown } = (await trace('s1')).body;
  expect(shown.in_advance_fees).toEqual([
    {
      svc_id: expect.any(String),
      svc_charge_id: shown.charges[0].svc_charge_id,
      amount_cents: 700,
      currency: 'USD',
      svc_invoice_id: expect.any(String),
      payment_status: 'pending',
    },
  ]);
});

test('an unmatched event says why, and the wallet that pays for the others is shown', async () => {
  await send('u1', 'nothing');
  await ok(
    story.client.post('/wallets', {
      wallet: { external_customer_id: 'ada', name: 'Prepaid', rate_amount: '1', currency: 'USD', granted_credits: '1' },
    }),
  );
  await story.advanceTo('2026-09-03T00:00:00Z');
  const { trace: shown } = (await trace('u1')).body;
  expect(shown.verdict).toMatchObject({ outcome: 'not_counted', reasons: ['metric_not_found'] });
  expect(shown.unmatched).toEqual({ reason: 'metric_not_found', status: 'open', healed_at: null });
  expect((await trace('t1')).body.trace.wallet).toMatchObject({ name: 'Prepaid', is_target: false });
});

test('an id that several subscriptions used needs the subscription', async () => {
  await send('both', 'calls');
  await send('both', 'calls', {}, 'zed-1');
  expect((await trace('both')).body.error_details).toEqual({ external_subscription_id: ['value_is_mandatory'] });
  const { body } = await trace('both', '?external_subscription_id=zed-1');
  expect(body.trace.verdict.external_customer_id).toBe('zed');
  expect((await trace('none')).status).toBe(404);
  const stranger = await service.org();
  expect((await stranger.get('/events/t1/trace')).status).toBe(404);
});

test('once its window is billed an event shows the invoice, and the fee of its own group', async () => {
  await story.advanceTo('2026-10-02T00:00:00Z');
  const { trace: shown } = (await trace('t1')).body;
  const [charge] = shown.charges;
  expect(charge.invoice).toMatchObject({ status: 'finalized', number: expect.any(String) });
  expect(charge.fee).toEqual({ svc_id: expect.any(String), amount_cents: 200, currency: 'USD' });
  const other = (await trace('t2')).body.trace.charges[0];
  expect(other.fee.amount_cents).toBe(400);
  const fee = (await ok(story.client.get(`/fees/${charge.fee.svc_id}`))).fee;
  expect(fee).toMatchObject({ svc_invoice_id: charge.invoice.svc_id, amount_cents: 200 });
});

test('nine statements, with ten fees on the invoice and a thousand', async () => {
  const asked = () =>
    countStatements(service, story.organizationId, 'findEventTrace', {
      now: '2026-10-02T00:00:00Z',
      transaction_id: 't1',
    });
  const few = await asked();
  expect(few.statements).toHaveLength(9);
  expect(few.roundTrips).toBeLessThanOrEqual(6);
  await service.sql`
    insert into fees select (jsonb_populate_record(fee, jsonb_build_object(
      'id', gen_random_uuid(), 'grouped_by', jsonb_build_object('region', 'r' || n)))).*
    from fees fee, generate_series(1, 1000) n
    where fee.organization_id = ${story.organizationId} and fee.grouped_by = '{"region":"us"}'`;
  expect((await asked()).statements).toHaveLength(9);
});
