import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPayToken } from '../../src/areas/messaging/mails/pay-link.ts';
import { linkSecret } from '../../src/platform/keys/deployment-keys.ts';
import { formIn, portalPath, sendForm } from '../support/portal.ts';
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

type VisitOptions = { method?: string; headers?: Record<string, string>; body?: string };

/** A customer may open five pages in a second; the next one is asked for until it may. */
const visit = (path: string, options: VisitOptions = {}) =>
  until(async () => {
    const answer = await request(`${service.url}${path}`, { method: 'GET', ...(options as object) });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (answer.statusCode === 429) return undefined;
    return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() };
  });

const pay = async (path: string) => sendForm(service.url, path, formIn((await visit(path)).text, '/pay'));

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
    const { status, text, headers } = await visit(await portalPath(story.client, 'acme'));
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain('<html lang="en">');
    for (const shown of [
      'Cost centre: 4711',
      `<img src="${LOGO}" alt="">`,
      '>Main</a></h3>',
      'Starter · $10.00 a month · Next billing on May 1, 2024',
      '<dt>Usage so far</dt><dd>$0.15</dd>',
      '<dt>Left in this period</dt><dd>20 days</dd>',
      '>Top-up</a></strong>',
      '$19.85<span class="soft">9.925 credits</span>',
      `<th scope="row">${invoice.number}<span class="soft">Apr 1, 2024</span></th>`,
      'Paid on Apr 1, 2024',
      '<td class="sum">$10.00</td>',
      `/invoices/${invoice.svc_id}/pdf`,
    ])
      expect(text).toContain(shown);
    const path = await portalPath(story.client, 'acme');
    const notes = (await visit(`${path}/credit_notes`)).text;
    for (const shown of [creditNote.number, 'Available', '$2.50', `credit_notes/${creditNote.svc_id}/pdf`])
      expect(notes).toContain(shown);
    const receipts = (await visit(`${path}/receipts`)).text;
    for (const shown of [receipt.number, invoice.number, '$10.00', `payment_receipts/${receipt.svc_id}/pdf`])
      expect(receipts).toContain(shown);
    expect(text).not.toContain('internal');
  });

  test('the portal page escapes every name', async () => {
    const path = await portalPath(story.client, 'acme');
    const { text } = await visit(path);
    expect(text).toContain(`<h1>${ESCAPED_NAME}</h1>`);
    const [, usage] = /href="([^"]*usage\/[^"]+)"/.exec(text)!;
    expect((await visit(new URL(usage!, `http://x${path}`).pathname)).text).toContain('API &lt;calls&gt;');
    expect(text).toContain('Acme &lt;b&gt;Ltd&lt;/b&gt;');
    expect(text).not.toContain('<script');
  });

  test('the page is not cached, runs no script and sends no referrer', async () => {
    const path = await portalPath(story.client, 'acme');
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
        /^default-src 'none'; style-src 'sha256-[^']+'( 'sha256-[^']+')?; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
      );
      if (!each.endsWith('/pdf')) expect(headers['x-ratelimit-limit']).toBeDefined();
    }
  });

  test('origins that may frame the page stand in its policy, in place of X-Frame-Options (CO32)', async () => {
    const [{ code }] = (await story.client.get('/billing_entities')).body.billing_entities;
    const put = (portal: object) => story.client.put(`/billing_entities/${code}/portal`, { portal });
    await put({ embed_origins: ['https://app.example.com'], accent_color: '#ffd400' });
    const path = await portalPath(story.client, 'acme');
    const { headers, text } = await visit(`${path}?embed=1`);
    expect(headers['content-security-policy']).toMatch(/; frame-ancestors https:\/\/app\.example\.com$/);
    expect(headers['x-frame-options']).toBeUndefined();
    expect(text).toContain('--accent:#806a00');
    expect(text).toContain('<body class="embedded">');
    expect(text).not.toContain('<footer');
    expect(text).toMatch(/href="[^"]*details\?embed=1"/);
    await put({ embed_origins: [], accent_color: null });
    const without = (await visit(path)).headers;
    expect(without['content-security-policy']).toMatch(/; frame-ancestors 'none'$/);
    expect(without['x-frame-options']).toBe('DENY');
  });

  test('the page is in the language of the customer, or of the browser when the customer is unknown', async () => {
    await story.customer({ external_id: 'erika', billing_configuration: { document_locale: 'de' } });
    const { text } = await visit(await portalPath(story.client, 'erika'));
    expect(text).toContain('<html lang="de">');
    expect(text).toContain('Ihre Abonnements, Rechnungen und Guthaben erscheinen hier, sobald es welche gibt.');
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
    const { text } = await visit(await portalPath(client, 'moving'));
    const rows = [
      ...text.matchAll(
        /<h3>(?:<a[^>]*>)?([^<]*)(?:<\/a>)?<\/h3><span class="badge [^>]*>([^<]*)<[\s\S]*?<p class="soft">([^<]*)</g,
      ),
    ];
    const shown = Object.fromEntries(rows.map(([, name, state, hint]) => [name, `${state}: ${hint}`]));
    expect(shown).toEqual({
      Starter: 'Active: $10.00 a month · Next billing on May 1, 2024',
      Small: 'Starts later: Starts on May 1, 2024',
      Later: 'Starts later: Starter · Starts on Jun 1, 2024',
      Brief: 'Active: Starter · $10.00 a month · Ends on Apr 20, 2024',
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
      from invoices invoice, generate_series(1, 24) n where invoice.id = ${invoice.svc_id}`;
    const path = await portalPath(story.client, 'many');
    const numbers = (text: string) => [...text.matchAll(/"row">(MANY-\d+)</g)].map(([, number]) => number);
    expect(numbers((await visit(path)).text)).toHaveLength(5);
    const first = (await visit(`${path}/invoices`)).text;
    expect(numbers(first)).toHaveLength(20);
    expect(first).toContain('href="invoices?page=2"');
    expect(numbers((await visit(`${path}/invoices?page=2`)).text)).toEqual(['MANY-4', 'MANY-3', 'MANY-2', 'MANY-1']);
    for (const odd of ['-1', '0', '1e9', "1'--", '999', '99999999'])
      expect((await visit(`${path}/invoices?page=${encodeURIComponent(odd)}`)).status).toBe(200);
    expect(numbers((await visit(`${path}/invoices?year=2023`)).text)).toEqual([]);
    expect(numbers((await visit(`${path}/invoices?year=2024&state=paid`)).text)).toHaveLength(20);
    expect((await visit(`${path}/invoices?state=overdue`)).text).toContain('There are none with these filters.');
  });

  describe('how invoices are paid', () => {
    let path: string;
    let owed: Invoice;
    /** The buttons of the list of invoices, with the number of each. */
    const buttons = (text: string) =>
      [...text.matchAll(/<button class="button small">([^<]+)<span class="hidden"> ([^<]+)</g)].map(
        ([, label, number]) => `${label}: ${number}`,
      );

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
      path = await portalPath(client, 'owing');
    });

    test('an invoice that owes something has a button that opens the provider’s page; one that is paid has none', async () => {
      const { text } = await visit(`${path}/invoices`);
      expect(text).toContain('Payable until Apr 10, 2024');
      expect(buttons(text)).toEqual([`Pay: ${owed.number}`]);
      await story.customer({
        external_id: 'owing',
        billing_configuration: {
          payment_provider: 'sandbox',
          payment_provider_code: 'sandbox',
          sync: true,
          sync_with_provider: true,
        },
      });
      const paid = await pay(`${path}/invoices`);
      expect(paid.status).toBe(200);
      expect(paid.headers.refresh).toMatch(/^0; url=http/);
      expect(paid.text).toContain(String(paid.headers.refresh).slice('0; url='.length));
    });

    test('where no provider’s page can be opened, the button leads to the pay link', async () => {
      await service.sql`update customers set payment_provider_id = null, payment_provider = null where external_id = 'owing'`;
      const paid = await pay(`${path}/invoices`);
      const [, link] = /url=(.*\/pay\/[\w-]{48})$/.exec(String(paid.headers.refresh))!;
      const token = link!.split('/').at(-1)!;
      const deployment = { db: service.sql, config: service.config };
      expect(await readPayToken(deployment, token)).toEqual({ type: 'Invoice', id: owed.svc_id, isExpired: false });
    });

    test('the address of an open provider’s page is not on the page', async () => {
      const [connection] = await service.sql`
        select id from payment_providers where organization_id = ${story.organizationId} limit 1`;
      await service.sql`
        insert into payment_pages (id, organization_id, customer_id, payment_provider_id, payable_type, payable_id,
          token, url, amount_cents, expires_at, created_at)
        values (gen_random_uuid(), ${story.organizationId}, ${await customerId('owing')}, ${connection!.id}, 'Invoice',
          ${owed.svc_id}, 'one', 'https://pay.example/p', 700, ${'2024-04-11T00:00:00Z'}, ${NOW})`;
      const { text } = await visit(`${path}/invoices`);
      expect(text).not.toContain('pay.example');
      expect(buttons(text)).toHaveLength(1);
    });

    test('a bank debit on its way is said with its day instead of the button', async () => {
      const form = formIn((await visit(`${path}/invoices`)).text, '/pay');
      await paying({ expected_settlement_date: '2024-04-16' });
      const { text } = await visit(`${path}/invoices`);
      expect(buttons(text)).toEqual([]);
      expect(text).toContain('Payment under way');
      expect(text).toContain('Payment expected on Apr 16, 2024');
      const late = await sendForm(service.url, `${path}/invoices`, form);
      expect(late.headers.refresh).toBeUndefined();
      expect(late.text).toContain('<p class="said wait" role="status">Payment under way</p>');
    });

    test('a payment that waits for its customer has a button to confirm it', async () => {
      await paying({ next_action: { redirect_to_url: { url: 'https://bank.example/confirm' } } });
      const { text } = await visit(`${path}/invoices`);
      expect(buttons(text)).toEqual([`Confirm the payment: ${owed.number}`]);
      expect(text).not.toContain('bank.example');
      expect((await pay(`${path}/invoices`)).headers.refresh).toMatch(/\/pay\/[\w-]{48}$/);
    });

    test('a refused payment leaves the button to pay', async () => {
      await paying({ payment_status: 'failed', status: 'failed' });
      expect(buttons((await visit(`${path}/invoices`)).text)).toEqual([`Pay: ${owed.number}`]);
    });

    test('who may only read, and a self-billed invoice, have no button; a draft is not listed', async () => {
      const { client } = story;
      const { customer } = (await client.get('/customers/owing/portal_url?scope=read')).body;
      const readPath = new URL(customer.portal_url).pathname;
      const reading = (await visit(`${readPath}/invoices`)).text;
      expect(reading).toContain(owed.number);
      expect(reading).not.toContain('method="post"');
      const form = formIn((await visit(`${path}/invoices`)).text, '/pay');
      expect((await sendForm(service.url, `${readPath}/invoices`, form)).status).toBe(403);
      await service.sql`update invoices set self_billed = true where id = ${owed.svc_id}`;
      expect(buttons((await visit(`${path}/invoices`)).text)).toEqual([]);
      await service.sql`update invoices set self_billed = false, status = 'draft' where id = ${owed.svc_id}`;
      expect((await visit(`${path}/invoices`)).text).not.toContain(owed.number);
      expect((await visit(`${path}/invoices/${owed.svc_id}/pdf`)).status).toBe(404);
    });
  });
});

describe('documents of the portal page', () => {
  test.each(['invoices', 'credit_notes', 'payment_receipts'])(
    '%s can be downloaded from the portal as PDF',
    async (listed) => {
      const subject = { invoices: invoice, credit_notes: creditNote, payment_receipts: receipt }[listed];
      const path = `${await portalPath(story.client, 'acme')}/${listed}/${subject.svc_id}/pdf`;
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
    const path = await portalPath(story.client, 'many');
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
      const path = await portalPath(client, client === story.client ? 'sibling' : 'acme');
      for (const [listed, { svc_id }] of Object.entries({
        invoices: invoice,
        credit_notes: creditNote,
        payment_receipts: receipt,
      }))
        expect((await visit(`${path}/${listed}/${svc_id}/pdf`)).status).toBe(404);
      expect((await visit(`${path}/invoices/1/pdf`)).text).toContain('There is no such page');
      expect((await visit(path)).text).not.toContain(invoice.number);
    }
    const path = await portalPath(story.client, 'acme');
    for (const unknown of ['/fees/1/pdf', `/invoices/${invoice.svc_id}`, '/fees']) {
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
      await signed({ sub, exp: Math.floor(Date.now() / 1000) - 401 * 86_400, aud: 'portal' }),
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
    const path = await portalPath(story.client, 'leaving');
    expect((await visit(path)).status).toBe(200);
    await story.client.delete('/customers/leaving');
    expect((await visit(path)).status).toBe(401);
  });

  test('the portal page answers no other method', async () => {
    const path = await portalPath(story.client, 'acme');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const each of [path, `${path}/invoices/${invoice.svc_id}/pdf`])
        expect(await visit(each, { method })).toMatchObject({ status: 404 });
  });
});
