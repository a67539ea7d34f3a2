import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reconcile } from '../../../src/areas/payments/reconcile-providers/reconcile.ts';
import type { OrganizationId, ReconciliationId } from '../../../src/platform/ids.ts';
import { newId } from '../../../src/platform/ids.ts';
import { Later } from '../../../src/platform/payments/provider-calls.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { countingPool } from '../../support/count-statements.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { ok } from '../../support/words.ts';
import { accountAtStripe } from '../support/account-at-stripe.ts';

// What a run costs: a constant number of calls and statements for a page of a hundred payments, whatever is compared.
let service: TestService;
let stripe: FakeStripe;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url }, pools: UNSCHEDULED });
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
});

const { connect } = accountAtStripe(() => ({ service, stripe, client }));

beforeEach(async () => {
  client = await service.org();
  await connect();
});

/** So many payments that have succeeded here and there. */
async function payBoth(count: number): Promise<void> {
  const organizationId = client.organization.organization_id;
  const batch = newId();
  const made = await service.sql<{ id: string }[]>`
    insert into payments (id, organization_id, customer_id, payable_type, payable_id, payment_type, amount_cents,
      amount_currency, status, payment_status, payment_provider_id, provider_payment_id, created_at, updated_at)
    select gen_random_uuid(), customer.organization_id, customer.id, 'Invoice', gen_random_uuid(), 'provider', 1200,
      'USD', 'succeeded', 'succeeded', customer.payment_provider_id, 'pi_' || ${batch} || '_' || number,
      now() - make_interval(hours => 2, secs => number), now() - interval '2 hours'
    from customers customer, generate_series(1, ${count}) as number
    where customer.organization_id = ${organizationId}
    returning provider_payment_id as id`;
  const fields = { amount: 1200, amount_received: 1200, currency: 'usd', status: 'succeeded', metadata: {} };
  stripe.intents.push(...made.map(({ id }) => ({ id, object: 'payment_intent', ...fields })));
}

/** Plays a run to its end: its statements, its calls, and what it has counted. */
async function run(): Promise<{ statements: number; calls: number; counts: object }> {
  const organizationId = client.organization.organization_id as OrganizationId;
  const id = newId() as ReconciliationId;
  await service.sql`
    insert into provider_reconciliations (id, organization_id, payment_provider_id, status, from_at, counts, created_at,
      updated_at)
    select ${id}, organization_id, id, 'pending', now() - interval '35 days',
      '{"compared": 0, "equal": 0, "foreign": 0, "drifts": {}}', now(), now()
    from payment_providers where organization_id = ${organizationId}`;
  const { sql, statements } = countingPool(service, 1);
  stripe.requests.length = 0;
  const isOver = async (): Promise<boolean> => {
    try {
      await reconcile({ ...runtime, sql }, { organization_id: organizationId, provider_reconciliation_id: id });
      return true;
    } catch (error) {
      if (!(error instanceof Later)) throw error;
      return false;
    }
  };
  try {
    while (!(await isOver()));
  } finally {
    await sql.end();
  }
  const { provider_reconciliation: ended } = await ok(client.get(`/provider_reconciliations/${id}`));
  return { statements: statements.length, calls: stripe.requests.length, counts: ended.counts };
}

test('a hundred payments more cost one call and the same few statements, and no single one is read', async () => {
  await payBoth(100);
  const small = await run();
  await payBoth(500);
  const great = await run();
  expect([small.counts, great.counts]).toEqual([
    { compared: 100, equal: 100, foreign: 0, unreadable: 0, drifts: {} },
    { compared: 600, equal: 600, foreign: 0, unreadable: 0, drifts: {} },
  ]);
  // Five pages more: one call each.
  expect(great.calls - small.calls).toBe(5);
  const perPage = (great.statements - small.statements) / 5;
  expect(perPage).toBe(8);
});
