import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPayToken } from '../../src/areas/messaging/mails/pay-link.ts';
import { admit, pagesOf, readPortal } from '../../src/areas/reporting/customer-portal/reads.ts';
import { linkSecret } from '../../src/platform/keys/deployment-keys.ts';
import { countReads, readingAt } from '../support/count-statements.ts';
import { startService, type TestService } from '../support/service.ts';
import { type Invoice, openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';

const NAME = `<script>alert(1)</script> & "Söhne"`;
const ESCAPED_NAME = '&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;Söhne&quot;';
const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const NOW = '2024-04-10T12:00:00Z';

let service: TestService;
let story: Story;
let invoice: Invoice;
let creditNote: { svc_id: string; number: string };
let receipt: { svc_id: string; number: string };

/** A customer whose month was billed and paid, with usage of the next one, credits and a credit note. */
beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  const [entity] = (await client.get('/billing_entities')).body.billing_entities;
  await client.put(`/billing_entities/${entity.code}`, {
    billing_entity: { legal_name: 'Acme <b>Ltd</b>', logo: LOGO, email: 'billing@acme.example' },
  });
  await story.customer({
    name: NAME,
    metadata: [
      { key: 'Cost centre', value: '4711', display_in_invoice: true },
      { key: 'Rating', value: 'internal', display_in_invoice: false },
    ],
  });
  const { body } = await client.post('/billable_metrics', {
    billable_metric: { name: 'API <calls>', code: 'calls', aggregation_type: 'count_agg' },
  });
  await story.plan({
    name: 'Starter',
    amount_cents: 1000,
    charges: [
      { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard', properties: { amount: '0.05' } },
    ],
  });
  await story.subscribe({ name: 'Main' });
  await story.advanceTo('2024-04-01T00:30:00Z');
  [invoice] = await story.invoices(1);
  const paid = await client.post('/payments', {
    payment: { invoice_id: invoice.svc_id, amount_cents: 1000, reference: 'bank' },
  });
  expect(paid.status, paid.text).toBe(200);
  receipt = await until(async () => (await client.get('/payment_receipts')).body.payment_receipts[0]);
  const credited = await client.post('/credit_notes', {
    credit_note: {
      invoice_id: invoice.svc_id,
      credit_amount_cents: 250,
      items: [{ fee_id: invoice.fees[0].svc_id, amount_cents: 250 }],
    },
  });
  expect(credited.status, credited.text).toBe(200);
  creditNote = credited.body.credit_note;
  const wallet = await client.post('/wallets', {
    wallet: { external_customer_id: 'acme', name: 'Top-up', rate_amount: '2', currency: 'USD', granted_credits: '10' },
  });
  expect(wallet.status, wallet.text).toBe(200);
  for (const n of [1, 2, 3])
    await client.post('/events', {
      event: { transaction_id: `t${n}`, external_subscription_id: 'sub', code: 'calls', timestamp: 1712500000 },
    });
  await story.advanceTo(NOW);
});
afterAll(() => service.stop());

/** The path of a customer's page, as its address tells it. */
async function portalOf(client: Story['client'], externalId: string): Promise<string> {
  const { body } = await client.get(`/customers/${externalId}/portal_url`);
  return new URL(body.customer.portal_url).pathname;
}

async function visit(path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  const answer = await request(`${service.url}${path}`, { method: 'GET', ...(options as object) });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() };
}

/** A token with claims of one's choice, signed as ours are. */
async function signed(claims: object): Promise<string> {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const secret = await linkSecret({ db: service.sql, config: service.config });
  return `/customer-portal/${payload}.${createHmac('sha256', secret).update(payload).digest('base64url')}`;
}

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;
const customerId = async (externalId: string): Promise<string> =>
  (await story.client.get(`/customers/${externalId}`)).body.customer.svc_id;

describe('the portal page', () => {
  test('the portal page shows its customer everything at the time of the organization’s clock', async () => {
    const { status, text, headers } = await visit(await portalOf(story.client, 'acme'));
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain('<html lang="en">');
    for (const shown of [
      'Cost centre: 4711',
      `<img src="${LOGO}" alt="">`,
      '<strong>Main</strong>',
      'Starter · Next billing on May 1, 2024',
      '<td>3</td><td>$0.15</td>',
      'Apr 1, 2024 – Apr 30, 2024',
      '<strong>Top-up</strong>',
      '$20.00<span class="soft">10 credits</span>',
      `<strong>${invoice.number}</strong>`,
      'Paid',
      '$10.00',
      `<strong>${creditNote.number}</strong>`,
      '$2.50',
      `<strong>${receipt.number}</strong>`,
      `/invoices/${invoice.svc_id}/pdf`,
      `/credit_notes/${creditNote.svc_id}/pdf`,
      `/payment_receipts/${receipt.svc_id}/pdf`,
    ])
      expect(text).toContain(shown);
    expect(text).not.toContain('internal');
  });

  test('the portal page escapes every name', async () => {
    const { text } = await visit(await portalOf(story.client, 'acme'));
    expect(text).toContain(`<h1>${ESCAPED_NAME}</h1>`);
    expect(text).toContain('API &lt;calls&gt;');
    expect(text).toContain('Acme &lt;b&gt;Ltd&lt;/b&gt;');
    expect(text).not.toContain('<script');
  });

  test('the page is not cached, runs no script and sends no referrer', async () => {
    const path = await portalOf(story.client, 'acme');
    for (const each of [path, `${path}x`, `${path}/invoices/${invoice.svc_id}/pdf`]) {
      const { headers } = await visit(each);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:;/,
      );
      if (!each.endsWith('/pdf')) expect(headers['x-ratelimit-limit']).toBeDefined();
    }
  });

  test('the page is in the language of the customer, or of the browser when the customer is unknown', async () => {
    await story.customer({ external_id: 'erika', billing_configuration: { document_locale: 'de' } });
    const { text } = await visit(await portalOf(story.client, 'erika'));
    expect(text).toContain('<html lang="de">');
    expect(text).toContain('Noch nichts vorhanden.');
    const refused = await visit('/customer-portal/x', { headers: { 'accept-language': 'pt-BR,en;q=0.5' } });
    expect(refused.text).toContain('<html lang="pt-BR">');
  });

  test('the page shows when a subscription starts, is billed and has ended, running subscriptions first', async () => {
    const { client } = story;
    await story.customer({ external_id: 'moving', timezone: 'Europe/Paris' });
    await story.plan({ name: 'Small', code: 'small', amount_cents: 500 });
    const subscribe = async (external_id: string, fields: object = {}) => {
      const { status } = await story.subscribe({ external_customer_id: 'moving', external_id, name: null, ...fields });
      expect(status).toBe(200);
    };
    await subscribe('gone', { plan_code: 'small', name: 'Gone' });
    expect((await client.delete('/subscriptions/gone')).status).toBe(200);
    await subscribe('one');
    await subscribe('one', { plan_code: 'small' });
    await subscribe('later', { name: 'Later', subscription_at: '2024-05-31T22:30:00Z' });
    await subscribe('brief', { name: 'Brief', ending_at: '2024-04-20T00:00:00Z' });
    const { text } = await visit(await portalOf(client, 'moving'));
    const [section] = text.split('id="subscriptions"')[1]!.split('id="invoices"');
    const rows = [
      ...section!.matchAll(
        /<strong>(.*)<\/strong>\s*<span class="soft">(.*)<\/span><\/div>\s*.*?badge[^>]*>(\w[\w ]*)</g,
      ),
    ];
    const shown = Object.fromEntries(rows.map(([, name, hint, state]) => [name, `${state}: ${hint}`]));
    expect(shown).toEqual({
      Starter: 'Active: Next billing on May 1, 2024',
      Small: 'Starts later: Starts on May 1, 2024',
      Later: 'Starts later: Starter · Starts on Jun 1, 2024',
      Brief: 'Active: Starter · Ends on Apr 20, 2024',
      Gone: 'Ended: Small · Ended on Apr 10, 2024',
    });
    expect(rows.at(-1)![1]).toBe('Gone');
  });

  test('the portal page pages its lists and accepts any number for a page', async () => {
    await story.customer({ external_id: 'many' });
    const id = await customerId('many');
    await service.sql`
      insert into invoices select (jsonb_populate_record(invoice, jsonb_build_object('id', gen_random_uuid(),
        'customer_id', ${id}::text, 'number', 'MANY-' || n, 'sequential_id', n, 'billing_entity_sequential_id', null,
        'issuing_date', date '2024-01-01' + n))).*
      from invoices invoice, generate_series(1, 14) n where invoice.id = ${invoice.svc_id}`;
    const path = await portalOf(story.client, 'many');
    const first = await visit(path);
    expect(first.text.match(/MANY-\d+<\/strong>/g)).toHaveLength(12);
    expect(first.text).toContain('href="?invoices=2#invoices"');
    const second = await visit(`${path}?invoices=2`);
    expect(second.text.match(/MANY-\d+<\/strong>/g)).toEqual(['MANY-2</strong>', 'MANY-1</strong>']);
    for (const odd of ['-1', '0', '1e9', "1'--", '999', '99999999'])
      expect((await visit(`${path}?invoices=${encodeURIComponent(odd)}`)).status).toBe(200);
  });

  describe('how invoices are paid', () => {
    let path: string;
    let owed: Invoice;
    const buttons = (text: string) => [...text.matchAll(/class="button" href="([^"]+)" aria-label="([^"]+)"/g)];

    /** A payment of the whole invoice, as a charge of the given state leaves it. */
    async function paying(fields: object): Promise<void> {
      await service.sql`delete from payment_invoices where invoice_id = ${owed.svc_id}`;
      await service.sql`delete from payments where payable_id = ${owed.svc_id}`;
      const connection = await service.sql`
        select id from payment_providers where organization_id = ${story.organizationId} limit 1`;
      const [payment] = await service.sql`
        insert into payments ${service.sql({
          id: crypto.randomUUID(),
          organization_id: story.organizationId,
          customer_id: await customerId('owing'),
          payable_type: 'Invoice',
          payable_id: owed.svc_id,
          amount_cents: 700,
          amount_currency: 'USD',
          payment_type: 'provider',
          payment_provider_id: connection[0]!.id,
          status: 'processing',
          payment_status: 'processing',
          created_at: NOW,
          updated_at: NOW,
          ...fields,
        })} returning id`;
      await service.sql`
        insert into payment_invoices (organization_id, payment_id, invoice_id, amount_cents)
        values (${story.organizationId}, ${payment!.id}, ${owed.svc_id}, 700)`;
    }

    beforeAll(async () => {
      const { client } = story;
      await client.post('/add_ons', {
        add_on: { name: 'Setup', code: 'setup', amount_cents: 700, amount_currency: 'USD' },
      });
      await story.customer({ external_id: 'owing' });
      const make = async () =>
        (
          await client.post('/invoices', {
            invoice: { external_customer_id: 'owing', currency: 'USD', fees: [{ add_on_code: 'setup', units: 1 }] },
          })
        ).body.invoice;
      const paid = await make();
      owed = await make();
      await client.post('/payments', { payment: { invoice_id: paid.svc_id, amount_cents: 700, reference: 'bank' } });
      const connected = await client.post('/payment_providers', {
        payment_provider: { type: 'sandbox', code: 'sandbox', name: 'Sandbox' },
      });
      expect(connected.status, connected.text).toBe(200);
      path = await portalOf(client, 'owing');
    });

    test('an invoice that owes something has a button with the pay link; one that is paid has none', async () => {
      const { text } = await visit(path);
      expect(text).toContain('Payable until Apr 10, 2024');
      const [button, ...others] = buttons(text);
      expect(others).toEqual([]);
      expect(button![2]).toBe(`Pay: ${owed.number}`);
      const token = /\/pay\/([\w-]{48})$/.exec(button![1]!)![1]!;
      const deployment = { db: service.sql, config: service.config };
      expect(await readPayToken(deployment, token)).toEqual({ type: 'Invoice', id: owed.svc_id, isExpired: false });
      expect((await visit(new URL(button![1]!).pathname)).status).toBe(200);
    });

    test('the address of an open provider’s page is not on the page', async () => {
      const [connection] = await service.sql`
        select id from payment_providers where organization_id = ${story.organizationId} limit 1`;
      await service.sql`update payment_providers set provider_type = 'stripe' where id = ${connection!.id}`;
      await service.sql`
        insert into payment_pages (id, organization_id, customer_id, payment_provider_id, payable_type, payable_id,
          token, url, amount_cents, expires_at, created_at)
        values (gen_random_uuid(), ${story.organizationId}, ${await customerId('owing')}, ${connection!.id}, 'Invoice',
          ${owed.svc_id}, 'one', 'https://pay.example/p', 700, ${'2024-04-11T00:00:00Z'}, ${NOW})`;
      const { text } = await visit(path);
      expect(text).not.toContain('pay.example');
      expect(buttons(text)).toHaveLength(1);
    });

    test('a bank debit on its way is said with its day instead of the button', async () => {
      await paying({ expected_settlement_date: '2024-04-16' });
      const { text } = await visit(path);
      expect(buttons(text)).toEqual([]);
      expect(text).toContain('Payment under way');
      expect(text).toContain('Payment expected on Apr 16, 2024');
    });

    test('a payment that waits for its customer has a button to confirm it', async () => {
      await paying({ next_action: { redirect_to_url: { url: 'https://bank.example/confirm' } } });
      const { text } = await visit(path);
      expect(buttons(text).map(([, , label]) => label)).toEqual([`Confirm the payment: ${owed.number}`]);
      expect(text).not.toContain('bank.example');
    });

    test('a refused payment leaves the button to pay', async () => {
      await paying({ payment_status: 'failed', status: 'failed' });
      expect(buttons((await visit(path)).text).map(([, , label]) => label)).toEqual([`Pay: ${owed.number}`]);
    });

    test('who may only read, and a self-billed invoice, have no button; a draft is not listed', async () => {
      const { client } = story;
      const { customer } = (await client.get('/customers/owing/portal_url?scope=read')).body;
      const reading = (await visit(new URL(customer.portal_url).pathname)).text;
      expect(reading).toContain(owed.number);
      expect(buttons(reading)).toEqual([]);
      await service.sql`update invoices set self_billed = true where id = ${owed.svc_id}`;
      expect(buttons((await visit(path)).text)).toEqual([]);
      await service.sql`update invoices set self_billed = false, status = 'draft' where id = ${owed.svc_id}`;
      expect((await visit(path)).text).not.toContain(owed.number);
      expect((await visit(`${path}/invoices/${owed.svc_id}/pdf`)).status).toBe(404);
    });
  });

  test('the portal page takes at most six round trips', async () => {
    const { client } = story;
    await story.customer({ external_id: 'busy' });
    const metric = async (code: string, fields: object) =>
      (await client.post('/billable_metrics', { billable_metric: { name: code, code, ...fields } })).body
        .billable_metric.svc_id;
    const plain = { charge_model: 'standard', properties: { amount: '1' } };
    const sums = await metric('sums', { aggregation_type: 'sum_agg', field_name: 'value' });
    const users = await metric('users', { aggregation_type: 'unique_count_agg', field_name: 'value' });
    await story.plan({
      code: 'busy',
      amount_cents: 0,
      charges: [
        { billable_metric_id: sums, pay_in_advance: true, ...plain },
        { billable_metric_id: users, ...plain },
      ],
    });
    for (const external_id of ['busy-1', 'busy-2', 'busy-3']) {
      await story.subscribe({ external_customer_id: 'busy', external_id, plan_code: 'busy' });
      for (const code of ['sums', 'users'])
        await client.post('/events', {
          event: {
            transaction_id: `${external_id}-${code}`,
            external_subscription_id: external_id,
            code,
            timestamp: Date.parse(NOW) / 1000,
            properties: { value: 4 },
          },
        });
    }
    const token = (await portalOf(client, 'busy')).split('/').at(-1)!;
    const { roundTrips, body } = await countReads(service, async (sql) => {
      const { customer } = await admit({ db: sql, config: service.config }, token);
      const ctx = readingAt(service, sql, customer.organization_id, NOW);
      return readPortal(ctx, customer, pagesOf(new URLSearchParams()));
    });
    expect(roundTrips).toBeLessThanOrEqual(6);
    const { customer_usage } = (await client.get('/customers/busy/current_usage?external_subscription_id=busy-2')).body;
    const shown = [...body.usage!.values()];
    expect(shown).toHaveLength(3);
    for (const usage of shown) {
      expect(usage.amountCents).toBe(customer_usage.amount_cents);
      expect(usage.charges.map(({ units }) => units.toFixed())).toEqual(['4', '1']);
    }
  });
});

describe('documents of the portal page', () => {
  test.each(['invoices', 'credit_notes', 'payment_receipts'])(
    '%s can be downloaded from the portal as PDF',
    async (listed) => {
      const subject = { invoices: invoice, credit_notes: creditNote, payment_receipts: receipt }[listed];
      const path = `${await portalOf(story.client, 'acme')}/${listed}/${subject.svc_id}/pdf`;
      const { headers, bytes } = await until(async () => {
        const answer = await visit(path);
        return answer.status === 200 ? answer : undefined;
      });
      expect(headers['content-type']).toBe('application/pdf');
      expect(headers['content-disposition']).toBe(`attachment; filename="${subject.number}.pdf"`);
      expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    },
  );

  test('the page announces a document that is drawn later, and asks for it again by itself', async () => {
    const [copy] = await service.sql`select id from invoices where number = 'MANY-1'`;
    await service.sql`
      insert into documents (id, organization_id, kind, subject_id, file_name, requested_at, enqueued_at)
      values (gen_random_uuid(), ${story.organizationId}, 'invoice', ${copy!.id}, 'MANY-1.pdf', now(), now())`;
    const path = await portalOf(story.client, 'many');
    const { status, headers, text } = await visit(`${path}/invoices/${copy!.id}/pdf`);
    expect([status, headers.refresh, headers['cache-control']]).toEqual([202, '3', 'no-store']);
    expect(text).toContain('Your document is being prepared');
    const [, back] = /<a href="([^"]+)">/.exec(text)!;
    expect(new URL(back!, `http://x${path}/invoices/${copy!.id}/pdf`).pathname).toBe(path);
  });

  test('documents of others, malformed ids and unknown lists are refused with 404', async () => {
    const other = await openStory(service, '2024-04-01T00:00:00Z');
    await other.customer();
    await story.customer({ external_id: 'sibling' });
    for (const client of [other.client, story.client]) {
      const path = await portalOf(client, client === story.client ? 'sibling' : 'acme');
      for (const [listed, { svc_id }] of Object.entries({
        invoices: invoice,
        credit_notes: creditNote,
        payment_receipts: receipt,
      }))
        expect((await visit(`${path}/${listed}/${svc_id}/pdf`)).status).toBe(404);
      expect((await visit(`${path}/invoices/1/pdf`)).text).toContain('There is no such page');
      expect((await visit(path)).text).not.toContain(invoice.number);
    }
    const path = await portalOf(story.client, 'acme');
    for (const unknown of ['/fees/1/pdf', `/invoices/${invoice.svc_id}`, '/invoices']) {
      const { status, text } = await visit(`${path}${unknown}`);
      expect(status).toBe(404);
      expect(JSON.parse(text)).toMatchObject({ code: 'object_not_found', resource: 'route' });
    }
  });
});

describe('tokens of the portal page', () => {
  test('only a signed token opens the portal page, and only until it expires', async () => {
    const sub = await customerId('acme');
    const good = await signed({ sub, exp: inAnHour(), aud: 'portal' });
    expect((await visit(good)).status).toBe(200);
    const [payload, signature] = good.split('.') as [string, string];
    const changed = Buffer.from(JSON.stringify({ sub, exp: inAnHour() + 60, aud: 'portal' })).toString('base64url');
    for (const path of [
      await signed({ sub, exp: Math.floor(Date.now() / 1000) - 1, aud: 'portal' }),
      await signed({ sub, exp: inAnHour(), aud: 'document' }),
      await signed({ sub: '0190b1a2-3c4d-7e5f-8a6b-7c8d9e0f1a2b', exp: inAnHour(), aud: 'portal' }),
      `/customer-portal/${changed}.${signature}`,
      `${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      `${payload}.`,
      payload,
      '/customer-portal/%00',
      `/customer-portal/${'a'.repeat(5000)}`,
    ]) {
      const { status, text, headers } = await visit(path);
      expect(status, path).toBe(401);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(text).toContain('This link is not valid any more');
      expect((await visit(`${path}/invoices/${invoice.svc_id}/pdf`)).status).toBe(401);
    }
  });

  test('the portal token of a deleted customer stops working', async () => {
    await story.customer({ external_id: 'leaving' });
    const path = await portalOf(story.client, 'leaving');
    expect((await visit(path)).status).toBe(200);
    await story.client.delete('/customers/leaving');
    expect((await visit(path)).status).toBe(401);
  });

  test('the portal page answers no other method', async () => {
    const path = await portalOf(story.client, 'acme');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const each of [path, `${path}/invoices/${invoice.svc_id}/pdf`])
        expect(await visit(each, { method })).toMatchObject({ status: 404 });
  });
});
