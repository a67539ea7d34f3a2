import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  reconcileProviders,
  resumeReconciliations,
} from '../../../src/areas/payments/reconcile-providers/start-runs.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { newId } from '../../../src/platform/ids.ts';
import { openRuntime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { FAKE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { accountAtStripe } from '../support/account-at-stripe.ts';

// What a provider holds is compared with ours, and repaired: provider-reconciliation.md.
let service: TestService;
let stripe: FakeStripe;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
});
afterAll(async () => {
  await service.stop();
  await stripe.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;
const organizationId = () => client.organization.organization_id;

const { connect, tell, store, bill, read, paid, reconcile, drifts, repair, balance, rules, hoursPass, intentThere } =
  accountAtStripe(() => ({ service, stripe, client }));

beforeEach(async () => {
  client = await service.org();
  await connect();
});

test('a success whose event was lost is repaired by itself after an hour: one payment, one receipt (FI21)', async () => {
  await store('pm_slow');
  const made = await bill();
  await paid(made, 'processing');
  stripe.set(stripe.intents[0], 'succeeded');
  // Within the hour its event may still be on its way.
  expect((await reconcile()).counts).toMatchObject({ compared: 3, equal: 3, drifts: {} });
  await hoursPass();
  const run = await reconcile({ payment_provider_code: 'main' });
  expect(run).toMatchObject({
    status: 'succeeded',
    payment_provider_code: 'main',
    counts: { foreign: 0, drifts: { status_differs: 1 } },
    progress: { percent: 100 },
    error: null,
  });
  expect(run.watermark).toBe(run.started_at);
  expect(await paid(made)).toMatchObject({ amount_cents: 1200 });
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  const [drift] = await until(async () => {
    const found = await drifts('?statuses[]=repaired');
    return found.length === 1 ? found : undefined;
  });
  expect(drift).toMatchObject({
    kind: 'status_differs',
    severity: 'warning',
    ours: { status: 'processing', amount_cents: 1200, currency: 'USD' },
    theirs: { status: 'succeeded', amount_cents: 1200, currency: 'USD' },
    resolution: { action: 'apply', note: null, by: 'system' },
    external_customer_id: 'acme',
    actions: [],
  });
  // The event comes after all.
  await tell('payment_intent.succeeded', stripe.intents[0]);
  expect((await reconcile()).counts).toMatchObject({ drifts: {} });
  const receipts = await until(async () => {
    const { payment_receipts: found } = await ok(client.get('/payment_receipts'));
    return found.length > 0 ? found : undefined;
  });
  expect([receipts.length, (await ok(client.get('/payments'))).payments.length]).toEqual([1, 1]);
  expect(await balance('cash')).toBe(1200);
});

test('a refund in the dashboard is a drift; applied it is a note of the same amount (FI22)', async () => {
  await store('pm_ok');
  const made = await bill();
  const payment = await paid(made);
  await ok(
    client.post('/webhook_endpoints', {
      webhook_endpoint: { webhook_url: 'http://127.0.0.1:9999/hook', event_types: ['provider_drift.found'] },
    }),
  );
  stripe.refunds.push({
    id: 're_dashboard',
    object: 'refund',
    payment_intent: payment.provider_payment_id,
    amount: 500,
    currency: 'usd',
    metadata: {},
    status: 'succeeded',
  });
  expect((await reconcile()).counts.drifts).toEqual({ refund_missing_here: 1 });
  const [drift] = await drifts('?kinds[]=refund_missing_here&statuses[]=open&payment_provider_code=main');
  expect(drift).toMatchObject({
    svc_payment_id: payment.svc_id,
    ours: null,
    theirs: { amount_cents: 500, currency: 'USD', status: 'succeeded' },
    actions: ['apply', 'resolve'],
  });
  expect((await ok(client.get('/payment_providers/main'))).payment_provider).toMatchObject({ drifts_open: 1 });
  const [announced] = await service.sql<{ object: Loose }[]>`
    select payload::jsonb -> 'provider_drift' as object from webhook_events
    where organization_id = ${organizationId()} and webhook_type = 'provider_drift.found'`;
  expect(announced!.object).toMatchObject({ svc_id: drift.svc_id, kind: 'refund_missing_here', status: 'open' });
  expect((await repair(drift, 'refund')).body).toMatchObject({ status: 405, code: 'invalid_status' });
  const { provider_drift: done } = await ok(repair(drift, 'apply'));
  expect(done).toMatchObject({ status: 'repaired', resolution: { action: 'apply', by: 'person' } });
  const { credit_notes: notes } = await ok(client.get(`/credit_notes?invoice_number=${made.number}`));
  expect(notes).toHaveLength(1);
  expect(notes[0]).toMatchObject({
    reason: 'other',
    refund_amount_cents: 500,
    credit_amount_cents: 0,
    refund_status: 'succeeded',
    items: [{ amount_cents: 500 }],
  });
  expect(await rules()).toEqual(expect.arrayContaining(['credit_note_created', 'refund_succeeded']));
  expect([await balance('cash'), await balance('refunds_payable')]).toEqual([700, 0]);
  // Nothing was refunded a second time, and both sides are equal.
  expect(stripe.refunds).toHaveLength(1);
  expect((await reconcile()).counts.drifts).toEqual({});
  expect((await repair(drift, 'apply')).body).toMatchObject({ status: 405, code: 'invalid_status' });
});

test('a dashboard refund of an invoice with tax becomes a note whose total is the refund to the cent', async () => {
  await store('pm_ok');
  await ok(client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 19, applied_to_organization: true } }));
  const made = await bill();
  const payment = await paid(made);
  expect(payment.amount_cents).toBe(1428);
  const refund = { id: 're_tax', payment_intent: payment.provider_payment_id, amount: 501, currency: 'usd' };
  stripe.refunds.push({ object: 'refund', metadata: {}, status: 'succeeded', ...refund });
  await reconcile();
  const [drift] = await drifts('?statuses[]=open');
  await ok(repair(drift, 'apply'));
  const { credit_notes: notes } = await ok(client.get(`/credit_notes?invoice_number=${made.number}`));
  // 421 × 1.19 = 500.99
  expect(notes[0]).toMatchObject({
    total_amount_cents: 501,
    refund_amount_cents: 501,
    taxes_amount_cents: 80,
    sub_total_excluding_taxes_amount_cents: 421,
  });
});

test('more refunded there than can be credited is for a person to resolve', async () => {
  await store('pm_ok');
  const made = await bill();
  const payment = await paid(made);
  const { fees } = await read(made);
  await ok(
    client.post('/credit_notes', {
      credit_note: {
        invoice_id: made.svc_id,
        credit_amount_cents: 1000,
        items: [{ fee_id: fees[0].svc_id, amount_cents: 1000 }],
      },
    }),
  );
  const refund = { id: 're_much', payment_intent: payment.provider_payment_id, amount: 500, currency: 'usd' };
  stripe.refunds.push({ object: 'refund', metadata: {}, status: 'succeeded', ...refund });
  await reconcile();
  const [drift] = await drifts('?statuses[]=open');
  expect((await repair(drift, 'apply')).body).toMatchObject({ status: 405, code: 'invalid_status' });
  await ok(repair(drift, 'resolve', 'Agreed by phone'));
  // The same figures do not come back; others do.
  expect((await reconcile()).counts.drifts).toEqual({});
  stripe.refunds[0].amount = 600;
  expect((await reconcile()).counts.drifts).toEqual({ refund_missing_here: 1 });
  expect(await drifts()).toHaveLength(2);
});

test('a payment of ours that is unknown here is made, once, and pays what is due', async () => {
  const made = await bill();
  const intent = intentThere(made);
  expect((await reconcile()).counts).toMatchObject({ compared: 1, drifts: { payment_missing_here: 1 } });
  const [drift] = await drifts();
  expect(drift).toMatchObject({ provider_object_id: intent.id, ours: null, svc_payment_id: null });
  await ok(repair(drift, 'apply'));
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  await tell('payment_intent.succeeded', intent);
  expect((await reconcile()).counts.drifts).toEqual({});
  expect((await ok(client.get('/payments'))).payments).toHaveLength(1);
});

describe('an invoice whose page was paid by a debit that is in progress', () => {
  let made: Loose;
  let intent: Loose;
  beforeEach(async () => {
    made = await bill();
    await until(
      async () => (await ok(client.get('/customers/acme'))).customer.billing_configuration.provider_customer_id,
    );
    await ok(client.post(`/invoices/${made.svc_id}/payment_url`, {}));
    intent = stripe.payOnPage();
  });
  const comesIn = async () => {
    stripe.set(intent, 'succeeded');
    await tell('payment_intent.succeeded', intent);
    expect(await paid(made)).toMatchObject({ provider_payment_id: intent.id, amount_cents: 1200 });
    expect(stripe.intents).toHaveLength(1);
    expect([await balance('cash'), await balance('unapplied_receipts')]).toEqual([1200, 0]);
  };

  test('is not charged by a method that is stored then, because its page refuses to end', async () => {
    await store('pm_ok');
    expect(await paid(made, 'processing')).toMatchObject({ provider_payment_id: intent.id, amount_cents: 1200 });
    expect((await client.post(`/invoices/${made.svc_id}/retry_payment`, {})).body).toMatchObject({ status: 405 });
    await comesIn();
  });

  test('knows of it by its event', async () => {
    await tell('payment_intent.processing', intent);
    expect(await paid(made, 'processing')).toMatchObject({ provider_payment_id: intent.id, amount_cents: 1200 });
    await comesIn();
  });

  test('knows of it by a run when the event was lost', async () => {
    expect((await reconcile()).counts.drifts).toEqual({ payment_missing_here: 1 });
    expect(await paid(made, 'processing')).toMatchObject({ provider_payment_id: intent.id, amount_cents: 1200 });
    expect(await drifts()).toMatchObject([{ status: 'repaired', resolution: { by: 'system' } }]);
    await comesIn();
  });
});

test('money of another currency stays an error, run after run, and is not applied', async () => {
  const made = await bill();
  const intent = intentThere(made, { currency: 'eur' });
  await tell('payment_intent.succeeded', intent);
  await until(async () => (await drifts())[0]);
  for (let run = 0; run < 2; run += 1) expect((await reconcile()).counts.drifts).toEqual({ currency_differs: 1 });
  const [drift, ...others] = await drifts();
  expect([drift, others]).toMatchObject([{ kind: 'currency_differs', status: 'open', severity: 'error' }, []]);
  await ok(repair(drift, 'resolve', 'Changed by the bank'));
  // What an event and a run say besides is no other figure.
  await tell('payment_intent.succeeded', intent);
  expect((await reconcile()).counts.drifts).toEqual({});
});

test('a second payment that is refunded in the dashboard is given back, and gets no note', async () => {
  await store('pm_ok');
  const made = await bill();
  await paid(made);
  const second = intentThere(made);
  await tell('payment_intent.succeeded', second);
  await until(async () => (await balance('unapplied_receipts')) === -1200 || undefined);
  const refund = { id: 're_second', payment_intent: second.id, amount: 1200, currency: 'usd', metadata: {} };
  stripe.refunds.push({ object: 'refund', status: 'succeeded', ...refund });
  await reconcile();
  const [drift] = await drifts('?kinds[]=refund_missing_here');
  await ok(repair(drift, 'apply'));
  expect((await ok(client.get('/credit_notes'))).credit_notes).toEqual([]);
  expect([await balance('cash'), await balance('unapplied_receipts')]).toEqual([1200, 0]);
  expect((await reconcile()).counts.drifts).toEqual({});
  expect(await drifts('?statuses[]=open')).toEqual([]);
});

test('a refund without an answer whose key is forgotten is not sent again, and its drift stays', async () => {
  await store('pm_ok');
  const made = await bill();
  await paid(made);
  const [fee] = (await read(made)).fees;
  stripe.isDown = true;
  try {
    const items = [{ fee_id: fee.svc_id, amount_cents: 500 }];
    await ok(
      client.post('/credit_notes', { credit_note: { invoice_id: made.svc_id, refund_amount_cents: 500, items } }),
    );
    await until(async () => {
      const [sent] = await service.sql`
        update credit_note_refunds set sent_at = sent_at - interval '30 hours'
        where organization_id = ${organizationId()} and sent_at is not null returning credit_note_id`;
      return sent;
    });
  } finally {
    stripe.isDown = false;
  }
  expect((await reconcile()).counts.drifts).toEqual({ refund_missing_there: 1 });
  const [drift] = await drifts();
  expect((await repair(drift, 'apply')).body).toMatchObject({ status: 405, code: 'invalid_status' });
  expect(await drifts()).toMatchObject([{ status: 'open', actions: ['apply', 'resolve'] }]);
  expect(stripe.refunds).toEqual([]);
});

test('a drift of an account that does not answer any more can be resolved', async () => {
  const made = await bill();
  intentThere(made, { amount: 1250, currency: 'eur' });
  await reconcile();
  const [drift] = await drifts();
  stripe.revoked.add(FAKE_KEY);
  try {
    expect((await repair(drift, 'resolve', 'The account was closed')).status).toBe(200);
  } finally {
    stripe.revoked.delete(FAKE_KEY);
  }
});

test('a drift that is gone when it is looked at anew has vanished', async () => {
  const made = await bill();
  const intent = intentThere(made);
  await reconcile();
  const [drift] = await drifts();
  await tell('payment_intent.succeeded', intent);
  await paid(made);
  const { provider_drift: gone } = await ok(repair(drift, 'apply'));
  expect(gone).toMatchObject({ status: 'vanished', resolution: null });
  expect((await ok(client.get('/payments'))).payments).toHaveLength(1);
});

test('an invoice that was paid twice: the second payment is given back, and its invoice stays paid', async () => {
  await store('pm_ok');
  const made = await bill();
  await paid(made);
  const second = intentThere(made);
  expect((await reconcile()).counts.drifts).toEqual({ double_payment: 1 });
  const [drift] = await drifts();
  expect(drift.actions).toEqual(['apply', 'refund', 'resolve']);
  const { provider_drift: done } = await ok(repair(drift, 'refund'));
  expect(done).toMatchObject({ status: 'repaired', resolution: { action: 'refund' } });
  expect(stripe.refunds.map(({ payment_intent, amount }) => [payment_intent, amount])).toEqual([[second.id, 1200]]);
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  expect([await balance('cash'), await balance('unapplied_receipts'), await balance('receivable')]).toEqual([
    1200, 0, 0,
  ]);
  expect((await reconcile()).counts.drifts).toEqual({});
  expect(stripe.refunds).toHaveLength(1);
});

describe('a second payment of an invoice', () => {
  let made: Loose;
  beforeEach(async () => {
    await store('pm_ok');
    made = await bill();
    await paid(made);
  });
  /** The drift of a second payment by a method whose refunds go their own way. */
  async function second(method = 'pm_ok'): Promise<Loose> {
    intentThere(made, { payment_method: method });
    await reconcile();
    const [drift] = await drifts('?statuses[]=open');
    return drift;
  }
  const show = async ({ svc_id }: Loose): Promise<Loose> =>
    (await ok(client.get(`/provider_drifts/${svc_id}`))).provider_drift;
  const unapplied = async () => [await balance('cash'), await balance('unapplied_receipts')];
  const become = (drift: Loose, status: string) =>
    until(async () => ((await show(drift)).status === status ? true : undefined));

  test('whose refund is not answered is given back and nothing else, and the next run books it', async () => {
    const drift = await second();
    const hold = stripe.holdNext('/v1/refunds');
    const asked = repair(drift, 'refund');
    await hold.isDone;
    expect((await repair(drift, 'resolve', 'Settled')).body).toMatchObject({ status: 405, code: 'invalid_status' });
    expect((await repair(drift, 'apply')).body).toMatchObject({ status: 405, code: 'invalid_status' });
    expect((await asked).status).toBe(422);
    expect(await show(drift)).toMatchObject({ status: 'open', actions: ['refund'] });
    // The money came in, and is not given back as far as we know.
    expect(await unapplied()).toEqual([2400, -1200]);
    expect((await reconcile()).counts.drifts).toEqual({ double_payment: 1 });
    hold.answer();
    await become(drift, 'repaired');
    expect(await unapplied()).toEqual([1200, 0]);
    expect((await reconcile()).counts.drifts).toEqual({});
    expect([stripe.refunds.length, await unapplied()]).toEqual([1, [1200, 0]]);
  });

  test('whose refund waits is booked when it is paid out, and received again when it fails after all', async () => {
    const drift = await second('pm_refund_slow');
    const { provider_drift: waiting } = await ok(repair(drift, 'refund'));
    expect(waiting).toMatchObject({ status: 'open', actions: ['refund'], resolution: null });
    await ok(repair(drift, 'refund'));
    expect([stripe.refunds.length, await unapplied()]).toEqual([1, [2400, -1200]]);
    const [refund] = stripe.refunds;
    refund.status = 'succeeded';
    await tell('refund.updated', refund);
    await become(drift, 'repaired');
    expect(await unapplied()).toEqual([1200, 0]);
    refund.status = 'failed';
    await tell('refund.failed', refund);
    await become(drift, 'open');
    expect([await show(drift), await unapplied()]).toMatchObject([
      { actions: ['apply', 'refund', 'resolve'] },
      [2400, -1200],
    ]);
    // An outdated report changes nothing, nor does a run.
    await tell('refund.updated', { ...refund, status: 'succeeded' });
    await reconcile();
    expect([await show(drift), await unapplied()]).toMatchObject([{ status: 'open' }, [2400, -1200]]);
    stripe.intents.at(-1).payment_method = 'pm_ok';
    await ok(repair(drift, 'refund'));
    expect([stripe.refunds.length, await unapplied()]).toEqual([2, [1200, 0]]);
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  });

  test('whose refund fails at once is still ours, and can be given back another time', async () => {
    const drift = await second('pm_refund_fails');
    expect((await repair(drift, 'refund')).status).toBe(422);
    expect([await show(drift), await unapplied()]).toMatchObject([
      { status: 'open', actions: ['apply', 'refund', 'resolve'] },
      [2400, -1200],
    ]);
    stripe.intents.at(-1).payment_method = 'pm_ok';
    await ok(repair(drift, 'refund'));
    expect([stripe.refunds.length, await unapplied()]).toEqual([2, [1200, 0]]);
  });

  test('that a person has applied can be given back afterwards', async () => {
    const drift = await second();
    await ok(repair(drift, 'apply'));
    expect(await unapplied()).toEqual([2400, -1200]);
    expect((await reconcile()).counts.drifts).toEqual({ double_payment: 1 });
    const [again] = await drifts('?statuses[]=open');
    await ok(repair(again, 'refund'));
    expect(await unapplied()).toEqual([1200, 0]);
    expect((await reconcile()).counts.drifts).toEqual({});
  });

  test('is none when the same account was connected again: it is the payment that is known', async () => {
    await ok(client.delete('/payment_providers/main'));
    await ok(
      client.post('/payment_providers', {
        payment_provider: { type: 'stripe', code: 'again', name: 'Again', secret_key: FAKE_KEY },
      }),
    );
    stripe.intents[0].metadata = { payable_type: 'Invoice', payable_id: made.svc_id };
    expect((await reconcile({ payment_provider_code: 'again' })).counts).toMatchObject({ equal: 1, drifts: {} });
    expect(await drifts()).toEqual([]);
    expect(await unapplied()).toEqual([1200, 0]);
  });
});

test('other money than was asked for settles nothing, and an error stays for a person (FI6)', async () => {
  await store('pm_slow');
  const made = await bill();
  const payment = await paid(made, 'processing');
  await tell('payment_intent.succeeded', { ...stripe.intents[0], status: 'succeeded', amount_received: 1199 });
  const [drift] = await until(async () => {
    const found = await drifts();
    return found.length > 0 ? found : undefined;
  });
  expect(drift).toMatchObject({
    kind: 'amount_differs',
    severity: 'error',
    svc_payment_id: payment.svc_id,
    ours: { amount_cents: 1200 },
    theirs: { amount_cents: 1199, currency: 'USD' },
    actions: ['resolve'],
  });
  expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
  expect((await repair(drift, 'apply')).body).toMatchObject({ status: 405, code: 'invalid_status' });
  stripe.set(stripe.intents[0], 'processing');
  stripe.intents[0].amount_received = 1199;
  expect((await repair(drift, 'resolve')).body.error_details).toEqual({ note: ['value_is_mandatory'] });
  // For a day it is nobody's fault that nobody has looked.
  const finds = async () => {
    await service.sql`delete from audit_runs where organization_id = ${organizationId()}`;
    const { audit } = await ok(client.post('/audits', { audit: { checks: ['A35'] } }));
    return until(async () => {
      const { audit: now } = await ok(client.get(`/audits/${audit.svc_id}`));
      return now.finished_at === null ? undefined : { count: now.findings_count };
    });
  };
  expect(await finds()).toEqual({ count: 0 });
  await service.sql`
    update provider_drifts set first_seen_at = now() - interval '25 hours'
    where organization_id = ${organizationId()}`;
  expect(await finds()).toEqual({ count: 1 });
  await ok(repair(drift, 'resolve', 'The bank kept its fee'));
  expect(await finds()).toEqual({ count: 0 });
});

test('a payment that the provider does not list any more is an error, and vanishes when it is listed again', async () => {
  await store('pm_ok');
  const made = await bill();
  const payment = await paid(made);
  await hoursPass();
  const [intent] = stripe.intents.splice(0);
  expect((await reconcile()).counts.drifts).toEqual({ payment_missing_there: 1 });
  const [drift] = await drifts('?external_customer_id=acme');
  expect(drift).toMatchObject({ severity: 'error', theirs: null, provider_object_id: payment.provider_payment_id });
  stripe.intents.push(intent);
  expect((await reconcile()).counts.drifts).toEqual({});
  expect(await drifts(`?payment_id=${payment.svc_id}`)).toMatchObject([{ status: 'vanished' }]);
  expect((await ok(client.get('/payment_providers/main'))).payment_provider).toMatchObject({ drifts_open: 0 });
});

test('a payment that failed there after all is taken back here', async () => {
  await store('pm_ok');
  const made = await bill();
  await paid(made);
  await hoursPass();
  stripe.set(stripe.intents[0], 'canceled');
  stripe.intents[0].amount_received = 0;
  await reconcile();
  const [drift] = await drifts('?statuses[]=open');
  expect(drift).toMatchObject({
    kind: 'status_differs',
    ours: { status: 'succeeded' },
    theirs: { status: 'canceled' },
  });
  await ok(repair(drift, 'apply'));
  expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  expect((await reconcile()).counts.drifts).toEqual({});
});

test('a dispute that was lost there is lost here', async () => {
  await store('pm_ok');
  const made = await bill();
  const payment = await paid(made);
  stripe.disputes.push({ id: 'dp_1', payment_intent: payment.provider_payment_id, status: 'lost', reason: 'fraud' });
  await reconcile();
  const [drift] = await drifts();
  expect(drift).toMatchObject({ kind: 'dispute_missing_here', theirs: { status: 'lost', reason: 'fraud' } });
  await ok(repair(drift, 'apply'));
  expect((await read(made)).payment_dispute_lost_at).not.toBeNull();
  expect((await reconcile()).counts.drifts).toEqual({});
});

test('a method and a customer that are gone there are discarded here', async () => {
  const id = await store('pm_ok');
  stripe.customers.set(id, { fields: {}, methods: [] });
  await reconcile();
  const [method] = await drifts();
  expect(method).toMatchObject({ kind: 'method_missing_there', provider_object_id: 'pm_ok' });
  await ok(repair(method, 'apply'));
  expect((await ok(client.get('/customers/acme/payment_methods'))).payment_methods).toEqual([]);
  await service.sql`update payment_methods set deleted_at = null where organization_id = ${organizationId()}`;
  stripe.customers.delete(id);
  await reconcile();
  const [customer] = await drifts('?statuses[]=open');
  expect(customer).toMatchObject({ kind: 'customer_missing_there', provider_object_id: id });
  await ok(repair(customer, 'apply'));
  expect((await ok(client.get('/customers/acme/payment_methods'))).payment_methods).toEqual([]);
});

describe('runs', () => {
  test('250 payments of others and 120 of ours are compared page by page', async () => {
    for (let index = 0; index < 250; index += 1)
      intentThere(
        { svc_id: newId() },
        { metadata: index % 2 === 0 ? {} : { payable_type: 'Invoice', payable_id: newId() } },
      );
    const made = await bill();
    for (let index = 0; index < 120; index += 1)
      intentThere(made, { status: 'requires_payment_method', amount_received: 0 });
    stripe.requests.length = 0;
    const run = await reconcile();
    expect(run.counts).toEqual({ compared: 120, equal: 120, foreign: 250, unreadable: 0, drifts: {} });
    expect(run.progress).toEqual({ done: 370, total: 0, percent: 100 });
    const pages = stripe.requests.filter((each) => each === 'GET /v1/payment_intents');
    expect(pages).toHaveLength(4);
    const seen = await service.sql`select from provider_objects_seen where organization_id = ${organizationId()}`;
    expect(seen).toHaveLength(0);
  });

  test('a run whose worker stopped goes on where it was', async () => {
    for (let index = 0; index < 150; index += 1) intentThere({ svc_id: newId() }, { metadata: {} });
    const [connection] = await service.sql<{ id: string }[]>`
      select id from payment_providers where organization_id = ${organizationId()}`;
    const id = newId();
    const cursor = { connection_id: connection!.id, phase: 'payments', at: stripe.intents[50].id };
    await service.sql`
      insert into provider_reconciliations (id, organization_id, payment_provider_id, status, from_at, cursor, counts,
        created_at, started_at, updated_at)
      values (${id}, ${organizationId()}, ${connection!.id}, 'running', now() - interval '35 days',
        ${service.sql.json(cursor)}, '{"compared": 7, "equal": 7, "foreign": 100, "drifts": {}}', now(), now(),
        now() - interval '6 minutes')`;
    const runtime = openRuntime(service.config, 'test', undefined, { reactions });
    try {
      await resumeReconciliations.sweep(runtime, realNow());
    } finally {
      await runtime.close();
    }
    const run = await until(async () => {
      const { provider_reconciliation: now } = await ok(client.get(`/provider_reconciliations/${id}`));
      return now.finished_at === null ? undefined : now;
    }, 30_000);
    // 50 were left: the newest hundred stood before the cursor.
    expect(run).toMatchObject({ status: 'succeeded', counts: { compared: 7, foreign: 150 } });
  });

  test('each connection has its run once a day, and one run of an organization works at a time', async () => {
    const runtime = openRuntime(service.config, 'test', undefined, { reactions });
    const runs = async () =>
      (await ok(client.get('/provider_reconciliations?payment_provider_code=main'))).provider_reconciliations;
    try {
      await reconcileProviders.sweep(runtime, realNow());
      await reconcileProviders.sweep(runtime, realNow());
      expect(await runs()).toHaveLength(1);
      expect((await reconcile()).status).toBe('succeeded');
      await until(async () => (await runs())[0].status === 'succeeded');
      await reconcileProviders.sweep(runtime, realNow());
      expect(await runs()).toHaveLength(1);
    } finally {
      await runtime.close();
    }
  });

  test('a provider that refuses our key fails the run, and nothing vanishes by it', async () => {
    const made = await bill();
    intentThere(made);
    await reconcile();
    stripe.revoked.add(FAKE_KEY);
    try {
      const run = await reconcile();
      expect(run).toMatchObject({ status: 'failed', watermark: null });
      expect(run.error).toMatchObject({ message: expect.stringContaining('Invalid API Key') });
    } finally {
      stripe.revoked.delete(FAKE_KEY);
    }
    expect(await drifts()).toMatchObject([{ status: 'open' }]);
  });

  test.each([
    [{ payment_provider_code: 'nobody' }, 404, undefined],
    [{ from: '1999-01-01' }, 422, { from: ['value_is_out_of_range'] }],
    [{ from: '2999-01-01' }, 422, { from: ['value_is_out_of_range'] }],
    [{ from: 'soon' }, 422, { from: ['invalid_date'] }],
    [{ to: '1999-01-01' }, 422, { to: ['value_is_out_of_range'] }],
  ])('%j is refused', async (body, status, details) => {
    const refused = await client.post('/provider_reconciliations', { provider_reconciliation: body });
    expect([refused.status, refused.body.error_details]).toEqual([status, details]);
  });
});
