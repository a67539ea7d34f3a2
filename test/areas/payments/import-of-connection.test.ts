import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { nudgeLostSteps } from '../../../src/jobs/sweep-rows/lost-steps.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { newId } from '../../../src/platform/ids.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import type { Client } from '../../support/client.ts';
import { FAKE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// The methods of all customers of a connection: provider-connections.md#customers-at-the-provider.
let service: TestService;
let stripe: FakeStripe;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url, PROVIDER_CALLS_PER_SECOND: '1000' } });
  runtime = openRuntime(service.config, 'test');
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
});

beforeEach(async () => {
  client = await service.org();
  stripe.requests.length = 0;
  stripe.customers.clear();
  await ok(
    client.post('/payment_providers', {
      payment_provider: { type: 'stripe', code: 'main', name: 'Main', secret_key: FAKE_KEY },
    }),
  );
});

const card = (id: string) => ({ id, object: 'payment_method', type: 'card', card: { brand: 'visa', last4: '4242' } });
const start = () => client.post('/payment_providers/main/import_methods');
const newest = async (): Promise<Loose> =>
  (await ok(client.get('/payment_providers/main/import_methods'))).payment_methods_import;
/** Minute after minute passes until the newest import has ended. */
const ended = () =>
  until(async () => {
    await minutePasses();
    const found = await newest();
    return found.finished_at === null ? undefined : found;
  }, 60_000);
const imports = async (): Promise<number> =>
  (
    await service.sql`
      select from webhook_events where organization_id = ${client.organization.organization_id}
        and webhook_type = 'customer.payment_methods_imported'`
  ).length;
/** Which customers Stripe was asked about since the last time, with repetitions. */
const asked = (): string[] =>
  stripe.requests.splice(0).flatMap((each) => /^GET \/v1\/customers\/(\w+)$/.exec(each)?.[1] ?? []);

async function link(name: string, methods: Loose[]): Promise<void> {
  stripe.customers.set(`cus_${name}`, { fields: {}, methods });
  await ok(
    client.post('/customers', {
      customer: {
        external_id: name,
        currency: 'USD',
        billing_configuration: {
          payment_provider: 'stripe',
          payment_provider_code: 'main',
          provider_customer_id: `cus_${name}`,
        },
      },
    }),
  );
  await until(async () => (await methodsOf(name)).length === methods.length || undefined);
}
const methodsOf = async (name: string): Promise<Loose[]> =>
  (await ok(client.get(`/customers/${name}/payment_methods`))).payment_methods;
const shown = async (name: string) =>
  (await methodsOf(name)).map((each) => [each.provider_method_id, each.is_default]).sort();

test('an import that is canceled reads no further customers, and only one that waits or runs can be', async () => {
  const cancel = () => client.post('/payment_providers/main/import_methods/cancel');
  const refused = { status: 405, body: { code: 'invalid_status' } };
  expect(await cancel()).toMatchObject(refused);
  await link('only', [card('pm_1')]);
  stripe.isDown = true;
  try {
    const { payment_methods_import: made } = await ok(start());
    const { payment_methods_import: canceled } = await ok(cancel());
    expect(canceled).toMatchObject({ svc_id: made.svc_id, status: 'canceled', error: null });
    expect(canceled.finished_at).not.toBeNull();
    expect(await cancel()).toMatchObject(refused);
    expect(await newest()).toMatchObject({ svc_id: made.svc_id, status: 'canceled' });
    const { payment_methods_import: next } = await ok(start());
    expect(next.svc_id).not.toBe(made.svc_id);
    await ok(cancel());
  } finally {
    stripe.isDown = false;
  }
  expect((await client.post('/payment_providers/other/import_methods/cancel')).status).toBe(404);
});

test('all linked customers get the methods that they have at Stripe, and a second run changes nothing', async () => {
  await link('first', [card('pm_1')]);
  await link('second', [card('pm_2')]);
  await ok(client.post('/customers', { customer: { external_id: 'unlinked', currency: 'USD' } }));
  expect(await newest()).toBeNull();
  stripe.customers.get('cus_first')!.methods = [card('pm_new'), card('pm_1')];
  stripe.customers.get('cus_second')!.methods = [];
  const [before] = [await imports(), asked()];
  const { payment_methods_import: made } = await ok(start());
  expect(made).toMatchObject({ payment_provider_code: 'main', status: 'pending', error: null });
  await until(async () => (await imports()) === before + 2 || undefined);
  expect(await ended()).toMatchObject({
    svc_id: made.svc_id,
    status: 'succeeded',
    progress: { done: 2, total: 2, percent: 100 },
  });
  expect(await shown('first')).toEqual([
    ['pm_1', true],
    ['pm_new', false],
  ]);
  expect(await shown('second')).toEqual([]);
  expect(asked().sort()).toEqual(['cus_first', 'cus_second']);

  const { payment_methods_import: again } = await ok(start());
  expect(again.svc_id).not.toBe(made.svc_id);
  await until(() => stripe.requests.length >= 4 || undefined);
  await ended();
  expect([await shown('first'), await shown('second')]).toEqual([
    [
      ['pm_1', true],
      ['pm_new', false],
    ],
    [],
  ]);
  expect(await imports()).toBe(before + 2);
});

/** The next page of the import is due. */
async function minutePasses(): Promise<void> {
  await service.sql`
    update after_steps set due_at = now(), enqueued_at = now() - interval '1 hour'
    where organization_id = ${client.organization.organization_id} and job = 'import-methods-of-connection'
      and due_at is not null`;
  await nudgeLostSteps(runtime, realNow());
}

test('302 customers are read once each, 300 in the first minute, and who asks meanwhile gets the same run', async () => {
  await link('first', [card('pm_1')]);
  const ids = Array.from({ length: 301 }, () => newId());
  for (const id of ids) stripe.customers.set(`cus_${id.replaceAll('-', '')}`, { fields: {}, methods: [] });
  await service.sql`
    insert into customers
    select (jsonb_populate_record(customer, jsonb_build_object('id', made.id, 'external_id', made.id, 'slug', made.id,
      'sequential_id', 1000 + made.place, 'provider_customer_id', 'cus_' || replace(made.id, '-', '')))).*
    from customers customer, unnest(${ids}::text[]) with ordinality as made (id, place)
    where customer.organization_id = ${client.organization.organization_id} and customer.external_id = 'first'`;
  asked();
  const { payment_methods_import: made } = await ok(start());
  const { payment_methods_import: same } = await ok(start());
  expect(same.svc_id).toBe(made.svc_id);
  const seen: string[] = [];
  const readAtLeast = (count: number) =>
    until(() => {
      seen.push(...asked());
      return seen.length >= count || undefined;
    }, 60_000);
  await readAtLeast(300);
  expect(new Set(seen).size).toBe(300);
  await until(async () => {
    await minutePasses();
    seen.push(...asked());
    return seen.length >= 302 || undefined;
  }, 60_000);
  expect(await ended()).toMatchObject({ status: 'succeeded', progress: { done: 302, total: 302, percent: 100 } });
  expect([seen.length, new Set(seen).size]).toEqual([302, 302]);
});

test('an import ends as failed after a day without an answer, and as canceled with its connection', async () => {
  await link('first', [card('pm_1')]);
  stripe.isDown = true;
  try {
    await ok(start());
    await until(async () => (await newest()).status === 'running' || undefined);
    await service.sql`
      update runs set created_at = created_at - interval '25 hours'
      where organization_id = ${client.organization.organization_id}`;
    expect(await ended()).toMatchObject({ status: 'failed', error: { code: 'provider_unreachable' } });
    await ok(start());
    await until(async () => (await newest()).status === 'running' || undefined);
  } finally {
    stripe.isDown = false;
  }
  await ok(client.delete('/payment_providers/main'));
  await service.sql`
    update after_steps set due_at = now(), enqueued_at = now() - interval '1 hour'
    where organization_id = ${client.organization.organization_id} and job = 'import-methods-of-connection'`;
  await nudgeLostSteps(runtime, realNow());
  await until(async () => {
    const [run] = await service.sql`
      select from runs where organization_id = ${client.organization.organization_id} and status = 'canceled'`;
    return run;
  });
});

test('a connection that nobody has is not found, and a sandbox has nothing to read', async () => {
  expect((await client.post('/payment_providers/other/import_methods')).status).toBe(404);
  const sandbox = await service.org({ sandbox: true });
  await ok(sandbox.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }));
  await ok(sandbox.post('/payment_providers/test/import_methods'));
  await until(async () => {
    const { payment_methods_import: run } = await ok(sandbox.get('/payment_providers/test/import_methods'));
    return run.status === 'succeeded' || undefined;
  });
});
