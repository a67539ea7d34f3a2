import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  askForAuthorization,
  releaseAuthorizations,
} from '../../../src/areas/payments/collect-payments/authorizations.ts';
import { DRIFT_KINDS, DRIFTS, type DriftKind } from '../../../src/areas/payments/provider-drifts/drift-kinds.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { newId } from '../../../src/platform/ids.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import {
  type FakeGocardless,
  fakeGocardless,
  GOCARDLESS_TOKEN,
  GOCARDLESS_WEBHOOK_SECRET,
} from '../../support/fakes/gocardless.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { accountAtStripe } from '../support/account-at-stripe.ts';

// Each kind of drift from its finding to its end: provider-reconciliation.md#drifts,
// provider-reconciliation.md#repairs.
let service: TestService;
let stripe: FakeStripe;
let gocardless: FakeGocardless;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  stripe = await fakeStripe();
  gocardless = await fakeGocardless();
  service = await startService({
    settings: { STRIPE_API_URL: stripe.url, GOCARDLESS_API_URL: gocardless.url },
    pools: UNSCHEDULED,
  });
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
  await gocardless.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

const { connect, store, bill, read, paid, reconcile, drifts, repair, balance, hoursPass, intentThere } =
  accountAtStripe(() => ({ service, stripe, client }));
const organizationId = () => client.organization.organization_id;

beforeEach(async () => {
  client = await service.org();
  await connect();
});

/** An invoice of 12.00 that its customer has paid by card. */
async function paidInvoice(method = 'pm_ok'): Promise<{ made: Loose; payment: Loose }> {
  await store(method);
  const made = await bill();
  return { made, payment: await paid(made) };
}

/** A credit note that refunds 5.00 of a paid invoice. */
async function refunded(made: Loose): Promise<Loose> {
  const [fee] = (await read(made)).fees;
  const items = [{ fee_id: fee.svc_id, amount_cents: 500 }];
  return (
    await ok(
      client.post('/credit_notes', { credit_note: { invoice_id: made.svc_id, refund_amount_cents: 500, items } }),
    )
  ).credit_note;
}

const methods = async (): Promise<Loose[]> => (await ok(client.get('/customers/acme/payment_methods'))).payment_methods;
const becomes = (what: () => Promise<boolean>) => until(async () => (await what()) || undefined);
const refundStatus = async ({ svc_id }: Loose) =>
  (await ok(client.get(`/credit_notes/${svc_id}`))).credit_note.refund_status;

/** How a kind comes about and ends; both sides are looked at after it. */
interface Case {
  /** Makes both sides differ; returns what the end is compared with. */
  differs(): Promise<Loose>;
  /** Where not a run finds it. */
  finds?(): Promise<unknown>;
  action: 'apply' | 'refund' | 'resolve';
  /** What is so afterwards. */
  ends(about: Loose): Promise<unknown>;
}

const CASES: Record<DriftKind, Case> = {
  status_differs: {
    async differs() {
      const { made } = await paidInvoice();
      await hoursPass();
      stripe.set(stripe.intents[0], 'canceled');
      stripe.intents[0].amount_received = 0;
      return made;
    },
    action: 'apply',
    async ends(made) {
      expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
      expect([await balance('cash'), await balance('receivable')]).toEqual([0, 1200]);
    },
  },
  refund_status_differs: {
    async differs() {
      const { made } = await paidInvoice('pm_refund_slow');
      const note = await refunded(made);
      await becomes(async () => stripe.refunds.length === 1 && (await refundStatus(note)) === 'pending');
      await becomes(async () => {
        const known = await service.sql`
          select from credit_note_refunds
          where organization_id = ${organizationId()} and provider_refund_id is not null`;
        return known.length === 1;
      });
      await hoursPass();
      stripe.refunds[0].status = 'succeeded';
      return note;
    },
    action: 'apply',
    async ends(note) {
      expect(await refundStatus(note)).toBe('succeeded');
      expect([await balance('cash'), await balance('refunds_payable')]).toEqual([700, 0]);
    },
  },
  dispute_missing_here: {
    async differs() {
      const { made, payment } = await paidInvoice();
      stripe.disputes.push({
        id: 'dp_1',
        payment_intent: payment.provider_payment_id,
        status: 'lost',
        reason: 'fraud',
      });
      return made;
    },
    action: 'apply',
    async ends(made) {
      expect((await read(made)).payment_dispute_lost_at).not.toBeNull();
    },
  },
  payment_missing_here: {
    async differs() {
      const made = await bill();
      intentThere(made);
      return made;
    },
    action: 'apply',
    async ends(made) {
      expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
      expect([await balance('cash'), await balance('receivable')]).toEqual([1200, 0]);
    },
  },
  amount_differs: {
    async differs() {
      await store('pm_slow');
      const made = await bill();
      await paid(made, 'processing');
      Object.assign(stripe.intents[0], { status: 'succeeded', amount: 1200, amount_received: 1199 });
      return made;
    },
    action: 'resolve',
    async ends(made) {
      expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
      expect(await balance('cash')).toBe(0);
    },
  },
  currency_differs: {
    async differs() {
      const made = await bill();
      intentThere(made, { currency: 'eur' });
      return made;
    },
    action: 'resolve',
    async ends(made) {
      expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
      expect(await balance('cash')).toBe(0);
    },
  },
  payment_missing_there: {
    async differs() {
      const { made } = await paidInvoice();
      await hoursPass();
      stripe.intents.splice(0);
      return made;
    },
    action: 'resolve',
    async ends(made) {
      expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
      expect(await balance('cash')).toBe(1200);
    },
  },
  refund_missing_here: {
    async differs() {
      const { made, payment } = await paidInvoice();
      const about = { payment_intent: payment.provider_payment_id, amount: 500, currency: 'usd' };
      stripe.refunds.push({ id: 're_1', object: 'refund', metadata: {}, status: 'succeeded', ...about });
      return made;
    },
    action: 'apply',
    async ends(made) {
      const { credit_notes: notes } = await ok(client.get(`/credit_notes?invoice_number=${made.number}`));
      expect(notes).toMatchObject([{ reason: 'other', refund_amount_cents: 500, refund_status: 'succeeded' }]);
      expect([await balance('cash'), await balance('refunds_payable'), stripe.refunds.length]).toEqual([700, 0, 1]);
    },
  },
  refund_missing_there: {
    async differs() {
      const { made } = await paidInvoice();
      stripe.isDown = true;
      try {
        const note = await refunded(made);
        await becomes(async () => {
          const sent = await service.sql`
            update credit_note_refunds set sent_at = sent_at - interval '2 hours'
            where organization_id = ${organizationId()} and sent_at is not null returning credit_note_id`;
          return sent.length === 1;
        });
        // Its job is lost.
        const queue = service.ingress.producer.queue('payments');
        await becomes(async () => (await queue.getActiveCount()) === 0);
        await queue.drain(true);
        return note;
      } finally {
        stripe.isDown = false;
      }
    },
    action: 'apply',
    async ends(note) {
      await becomes(async () => (await refundStatus(note)) === 'succeeded');
      expect([await balance('cash'), await balance('refunds_payable'), stripe.refunds.length]).toEqual([700, 0, 1]);
    },
  },
  double_payment: {
    async differs() {
      const { made } = await paidInvoice();
      intentThere(made);
      return made;
    },
    action: 'refund',
    async ends(made) {
      expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
      expect([await balance('cash'), await balance('unapplied_receipts')]).toEqual([1200, 0]);
      expect(stripe.refunds).toMatchObject([{ amount: 1200, status: 'succeeded' }]);
    },
  },
  customer_missing_there: {
    async differs() {
      stripe.customers.delete(await store('pm_ok'));
    },
    action: 'apply',
    async ends() {
      expect(await methods()).toEqual([]);
      const announced = await service.sql`
        select from webhook_events
        where organization_id = ${organizationId()} and webhook_type = 'customer.payment_provider_error'`;
      expect(announced).toHaveLength(1);
    },
  },
  method_missing_there: {
    async differs() {
      stripe.customers.set(await store('pm_ok'), { fields: {}, methods: [] });
    },
    action: 'apply',
    async ends() {
      expect(await methods()).toEqual([]);
    },
  },
  mandate_inactive: {
    async differs() {
      const debits = { type: 'gocardless', code: 'debits', name: 'Debits', environment: 'sandbox' };
      const secrets = { access_token: GOCARDLESS_TOKEN, webhook_secret: GOCARDLESS_WEBHOOK_SECRET };
      await ok(client.post('/payment_providers', { payment_provider: { ...debits, ...secrets } }));
      const billing = { payment_provider: 'gocardless', payment_provider_code: 'debits', sync_with_provider: true };
      await ok(
        client.post('/customers', { customer: { external_id: 'acme', name: 'Acme', billing_configuration: billing } }),
      );
      await until(
        async () => (await ok(client.get('/customers/acme'))).customer.billing_configuration.provider_customer_id,
      );
      const page = await until(async () => [...gocardless.billingRequests.values()].at(-1));
      const mandate = gocardless.sign(page.id);
      await ok(client.post('/customers/acme/payment_methods/import', {}));
      expect(await methods()).toMatchObject([{ provider_method_id: mandate.id }]);
      mandate.status = 'cancelled';
    },
    action: 'apply',
    async ends() {
      expect(await methods()).toEqual([]);
    },
  },
  authorization_open: {
    async differs() {
      await store('pm_ok');
      const amount = { amount_cents: 5000, amount_currency: 'USD' };
      await askForAuthorization(runtime, {
        organizationId: organizationId(),
        sandbox: false,
        commandId: newId(),
        recordId: newId(),
        input: { body: { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan', authorization: amount } },
      });
      await service.sql`update authorizations set attempts = 12 where organization_id = ${organizationId()}`;
    },
    finds: () => releaseAuthorizations.sweep(runtime, realNow().add({ minutes: 100 })),
    action: 'apply',
    async ends() {
      await becomes(async () => {
        const open = await service.sql`
          select from authorizations where organization_id = ${organizationId()} and released_at is null`;
        return open.length === 0;
      });
      expect(stripe.intents).toMatchObject([{ status: 'canceled', amount: 5000 }]);
    },
  },
};

test.each(DRIFT_KINDS)('%s is found once, ends by what it offers, and is not found again', async (kind) => {
  const { differs, finds, action, ends } = CASES[kind];
  const about = await differs();
  const find = async (): Promise<number> => {
    await finds?.();
    const { counts } = await reconcile();
    expect(Object.keys(counts.drifts).filter((other) => other !== kind)).toEqual([]);
    return counts.drifts[kind] ?? 0;
  };
  const inRun = finds ? 0 : 1;
  expect(await find()).toBe(inRun);
  const [drift, ...others] = await drifts();
  const { severity, actions } = DRIFTS[kind];
  expect([drift, others]).toMatchObject([{ kind, severity, actions, status: 'open' }, []]);
  // Found a second time it is the same drift, announced once.
  expect(await find()).toBe(inRun);
  const announced = await service.sql`
    select from webhook_events where organization_id = ${organizationId()} and webhook_type = 'provider_drift.found'`;
  expect(announced).toHaveLength(1);
  const { provider_drift: ended } = await ok(repair(drift, action, 'Seen by a person'));
  expect(ended).toMatchObject({
    svc_id: drift.svc_id,
    status: action === 'resolve' ? 'resolved' : 'repaired',
    resolution: { action, note: 'Seen by a person', by: 'person' },
    actions: [],
  });
  await ends(about);
  expect(await find()).toBe(0);
  expect(await drifts()).toMatchObject([{ svc_id: drift.svc_id, status: ended.status }]);
  expect((await repair(drift, action, 'Again')).body).toMatchObject({ status: 405, code: 'invalid_status' });
});

// Those without figures of the provider, of two payments, and what a sweep finds; others are resolved above.
test.each(['refund_missing_there', 'double_payment', 'customer_missing_there', 'authorization_open'] as const)(
  '%s that a person says is settled is left as it is, and is not found again',
  async (kind) => {
    const { differs, finds } = CASES[kind];
    await differs();
    await finds?.();
    await reconcile();
    const [drift] = await drifts();
    expect((await ok(repair(drift, 'resolve'))).provider_drift).toMatchObject({ kind, status: 'resolved' });
    await finds?.();
    expect((await reconcile()).counts.drifts).toEqual({});
    expect(await drifts()).toMatchObject([{ svc_id: drift.svc_id, status: 'resolved' }]);
  },
);
