import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkProviders } from '../../../src/areas/payments/collect-payments/check-providers.ts';
import { retryProviderEvents } from '../../../src/areas/payments/collect-payments/retry-provider-events.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { connectStripe, linkCustomer, type Organization } from '../../support/connect-stripe.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Work at providers that was lost, or overtaken: periodic-jobs.md#retry-provider-events, payments.md#payment-url.
let service: TestService;
let stripe: FakeStripe;
let runtime: Runtime;
let client: Organization;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
  runtime = openRuntime(service.config, 'test');
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

async function connected(): Promise<Organization> {
  const made = await service.org();
  await connectStripe(service, made);
  return made;
}

beforeEach(async () => {
  client = await connected();
  await linkCustomer(client, { currency: 'USD' }, { sync: true });
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' } }),
  );
});

/** What a sweep would queue: names of jobs with the organizations that they are for. */
async function swept(sweep: typeof retryProviderEvents, minutes = 0): Promise<{ name: string; owner: string }[]> {
  const queued: { name: string; owner: string }[] = [];
  const addMany = async (name: string, items: { payload: { organization_id: string } }[]) => {
    for (const { payload } of items) queued.push({ name, owner: payload.organization_id });
  };
  const producer = { addMany } as unknown as Runtime['producer'];
  await sweep.sweep({ ...runtime, producer }, realNow().add({ minutes }));
  return queued;
}
const countOf = (queued: { name: string; owner: string }[], owner: Loose) =>
  queued.filter((each) => each.owner === owner.organization.organization_id).length;

describe('sweeps of lost work', () => {
  test('customers of one organization that make no progress keep those of others from no turn', async () => {
    const stuck = await connected();
    const [connection] = await service.sql<{ id: string }[]>`
      select id from payment_providers where organization_id = ${stuck.organization.organization_id}`;
    await ok(stuck.post('/customers', { customer: { external_id: 'first' } }));
    await service.sql`
      insert into customers
      select (jsonb_populate_record(customer, jsonb_build_object('id', gen_random_uuid(), 'external_id', 'c' || n,
        'sequential_id', n + 1, 'slug', customer.slug || '-' || n, 'payment_provider_id', ${connection!.id}::uuid,
        'updated_at', now() - interval '2 days'))).*
      from customers customer, generate_series(1, 1200) n
      where organization_id = ${stuck.organization.organization_id}`;
    await service.sql`
      update customers set provider_customer_id = null, updated_at = now() - interval '10 minutes'
      where organization_id = ${client.organization.organization_id}`;
    const first = await swept(retryProviderEvents);
    expect([countOf(first, client), countOf(first, stuck)]).toEqual([1, 500]);
    // What was not looked at yet comes before what has been.
    const second = await swept(retryProviderEvents);
    expect([countOf(second, client), countOf(second, stuck)]).toEqual([1, 500]);
    const [left] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from customers
      where organization_id = ${stuck.organization.organization_id} and payment_provider_id is not null
        and looked_at is null`;
    expect(left!.count).toBe(200);
    await service.sql`delete from customers where organization_id = ${stuck.organization.organization_id}`;
  });

  test('a transfer that was not made for three days is asked about once a day, another one hourly', async () => {
    const slow = { sync: true, provider_payment_methods: ['customer_balance'] };
    await linkCustomer(client, { external_id: 'slow', currency: 'USD' }, slow);
    await ok(
      client.post('/invoices', {
        invoice: { external_customer_id: 'slow', currency: 'USD', fees: [{ add_on_code: 'setup', units: 1 }] },
      }),
    );
    const organizationId = client.organization.organization_id;
    await until(async () => {
      const rows = await service.sql`
        select from payments where organization_id = ${organizationId} and payment_status = 'processing'`;
      return rows[0];
    });
    const asked = async (ageDays: number, askedHoursAgo: number) => {
      await service.sql`
        update payments set created_at = now() - ${ageDays} * interval '1 day', updated_at = now() - interval '2 days',
          looked_at = now() - ${askedHoursAgo} * interval '1 hour'
        where organization_id = ${organizationId}`;
      const owner = organizationId as string;
      return (await swept(retryProviderEvents)).filter((each) => each.owner === owner).map(({ name }) => name);
    };
    expect(await asked(2, 2)).toEqual(['payment.look-after']);
    expect(await asked(4, 2)).toEqual([]);
    expect(await asked(4, 25)).toEqual(['payment.look-after']);
  });

  test('connections of one organization that cannot be checked keep those of others from no turn', async () => {
    const stuck = await connected();
    await service.sql`
      insert into payment_providers
      select (jsonb_populate_record(provider, jsonb_build_object('id', gen_random_uuid(), 'code', 'p' || n,
        'status', 'unverified', 'checked_at', null))).*
      from payment_providers provider, generate_series(1, 600) n
      where organization_id = ${stuck.organization.organization_id}`;
    await service.sql`
      update payment_providers set status = 'unverified', updated_at = now() - interval '10 minutes'
      where organization_id in (${stuck.organization.organization_id}, ${client.organization.organization_id})`;
    const queued = await swept(checkProviders);
    expect([countOf(queued, client), countOf(queued, stuck)]).toEqual([1, 50]);
    await service.sql`delete from payment_providers where organization_id = ${stuck.organization.organization_id}`;
  });
});

const invoice = async (): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] },
      }),
    )
  ).invoice;
const pageOf = (made: Loose) => client.post(`/invoices/${made.svc_id}/payment_url`);
const urlOf = async (made: Loose) => (await ok(pageOf(made))).invoice_payment_details.payment_url as string;
const endsOf = (session: string) =>
  stripe.requests.filter((each) => each === `POST /v1/checkout/sessions/${session}/expire`).length;
const sessions = '/v1/checkout/sessions';
const storedPage = async (made: Loose): Promise<Loose> =>
  (await service.sql`select * from payment_pages where payable_id = ${made.svc_id}`)[0];

/** A job of a page is no second one while the first has not ended. */
const jobsEnded = () =>
  until(async () => (await runtime.producer.queue('payments').getJobCounts('active')).active === 0);

describe('hosted pages', () => {
  test('a page that is closed while it is opened is ended at the provider, and its address is not given', async () => {
    const made = await invoice();
    const held = stripe.holdNext(sessions);
    const asked = pageOf(made);
    await held.isDone;
    await ok(
      client.post('/payments', { payment: { invoice_id: made.svc_id, amount_cents: 1200, reference: 'by bank' } }),
    );
    expect((await asked).status).toBe(503);
    held.answer();
    const page = await until(async () => {
      const row = await storedPage(made);
      return row.ended_at ? row : undefined;
    });
    expect(endsOf(page.provider_page_id)).toBe(1);
    expect((await pageOf(made)).body.error_details).toEqual({
      base: ['invalid_invoice_status_or_payment_status'],
    });
  });

  test('a page whose job was lost is opened when its link is asked for again', async () => {
    const made = await invoice();
    await urlOf(made);
    await service.sql`
      update payment_pages set url = '', provider_page_id = null where payable_id = ${made.svc_id}`;
    expect(await urlOf(made)).toMatch(/^https:\/\/pay\.test\/cs_/);
    expect((await service.sql`select from payment_pages where payable_id = ${made.svc_id}`).length).toBe(1);
  });

  test('the sweep opens pages and ends closed ones whose job was lost', async () => {
    const made = await invoice();
    const url = await urlOf(made);
    await jobsEnded();
    await service.sql`
      update payment_pages set url = '', provider_page_id = null where payable_id = ${made.svc_id}`;
    // The page's own time stays: the hour of the address that its customer comes back to follows from it.
    await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 6 }));
    const page = await until(async () => {
      const row = await storedPage(made);
      return row.url === url ? row : undefined;
    });
    await jobsEnded();
    await service.sql`
      update payment_pages set closed_at = now() - interval '6 minutes' where payable_id = ${made.svc_id}`;
    await retryProviderEvents.sweep(runtime, realNow());
    await until(async () => (await storedPage(made)).ended_at ?? undefined);
    expect(endsOf(page.provider_page_id)).toBe(1);
    await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 20 }));
    expect(endsOf(page.provider_page_id)).toBe(1);
  });

  test('a page whose key the provider knows with another content gets another key', async () => {
    const made = await invoice();
    await urlOf(made);
    await service.sql`update payment_pages set url = '', provider_page_id = null where payable_id = ${made.svc_id}`;
    // Its success address changed since it was asked for.
    await ok(
      client.put('/payment_providers/main', { payment_provider: { success_redirect_url: 'https://acme.test' } }),
    );
    const refused = await pageOf(made);
    expect([refused.status, refused.body.code]).toEqual([422, 'provider_error']);
    expect(await urlOf(made)).toMatch(/^https:\/\/pay\.test\/cs_/);
  });
});
