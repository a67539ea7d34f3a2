import { randomInt } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { payLink, readPayToken, withPayLinks } from '../../src/areas/messaging/mails/pay-link.ts';
import { payTextsOf } from '../../src/areas/messaging/pay-texts/by-locale.ts';
import type { PayTexts } from '../../src/areas/messaging/pay-texts/pay-texts.ts';
import { rotateKey } from '../../src/platform/keys/deployment-keys.ts';
import { connectStripe, linkCustomer, type Organization, tell } from '../support/connect-stripe.ts';
import { type FakeStripe, fakeStripe } from '../support/fakes/stripe.ts';
import { startService, type TestService, UNSCHEDULED } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';

// The page where invoices are paid, against a fake of Stripe: pay-links.md, payment-requests.md#the-page-of-a-request.
let service: TestService;
let stripe: FakeStripe;
let client: Organization;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ pools: UNSCHEDULED, settings: { STRIPE_API_URL: stripe.url, TRUST_PROXY_HOPS: '1' } });
});
afterAll(async () => {
  await service.stop();
  await stripe.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeEach(async () => {
  client = await service.org();
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1, amount_currency: 'EUR' } }),
  );
});

/** A customer that Stripe knows, with no method to be charged. */
async function linkedCustomer(fields: object = {}): Promise<void> {
  await connectStripe(service, client);
  await linkCustomer(client, { ...CUSTOMER, ...fields });
}
const CUSTOMER = { external_id: 'acme', name: 'Acme', currency: 'EUR', email: 'pay@acme.example' };
const customer = (fields: object = {}) => ok(client.post('/customers', { customer: { ...CUSTOMER, ...fields } }));

const invoice = async (cents: number): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: {
          external_customer_id: 'acme',
          currency: 'EUR',
          fees: [{ add_on_code: 'setup', unit_amount_cents: cents, units: 1 }],
        },
      }),
    )
  ).invoice;
const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;

/** Two invoices that are overdue, and a request for both. */
async function requested(...cents: number[]): Promise<{ invoices: Loose[]; made: Loose }> {
  const invoices: Loose[] = [];
  for (const each of cents) invoices.push(await invoice(each));
  const ids = invoices.map(({ svc_id }) => svc_id);
  await service.sql`update invoices set payment_overdue = true where id = any (${ids}::uuid[])`;
  const asked = { payment_request: { external_customer_id: 'acme', svc_invoice_ids: ids } };
  return { invoices, made: (await ok(client.post('/payment_requests', asked))).payment_request };
}

const deployment = () => ({ db: service.sql, config: service.config });
const pathOf = async (type: 'Invoice' | 'PaymentRequest', id: string, since?: Temporal.Instant): Promise<string> =>
  new URL(await payLink(deployment(), { type, id }, since)).pathname;

/** Each call comes from an address of its own, because thirty of one address in a minute are the limit. */
const anyAddress = () => `198.51.${randomInt(256)}.${randomInt(256)}`;
async function visit(path: string, method: 'GET' | 'POST' = 'GET', headers: Record<string, string> = {}) {
  const answer = await request(`${service.url}${path}`, {
    method,
    headers: { 'x-forwarded-for': anyAddress(), ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

const tellOf = async (type: string, object: object, id?: string) =>
  expect(await tell(service, stripe.event(type, object, id))).toBe(200);

/** The event of a page of Stripe on which a request or an invoice was paid. */
const paidOnPage = (type: string, id: string, cents: number) =>
  tellOf('payment_intent.succeeded', {
    id: `pi_${id}_${randomInt(1_000_000)}`,
    status: 'succeeded',
    amount_received: cents,
    currency: 'eur',
    metadata: { payable_type: type, payable_id: id },
  });

const pages = async (): Promise<Loose[]> => service.sql`
  select payable_id, amount_cents, closed_at from payment_pages
  where organization_id = ${client.organization.organization_id} order by created_at, id`;

/** The mail that was posted last, once there are as many. */
const mailed = (count = 1): Promise<Loose> =>
  until(async () => {
    const rows = await service.sql`
      select subject, body, recipients from mails
      where organization_id = ${client.organization.organization_id} order by id desc`;
    return rows.length === count ? rows[0] : undefined;
  });

const booked = async () => service.sql`
  select entry.account_code as account, entry.amount_cents as amount from ledger_entries entry
  join ledger_transactions booked on booked.id = entry.transaction_id and booked.rule = 'payment_succeeded'
  where entry.organization_id = ${client.organization.organization_id} order by entry.transaction_id, entry.position`;

describe('the token', () => {
  test('a token is 48 letters, names its payable, and any changed letter makes it unknown', async () => {
    await customer();
    const made = await invoice(14900);
    const path = await pathOf('Invoice', made.svc_id);
    const token = path.slice('/pay/'.length);
    expect(token).toMatch(/^[\w-]{48}$/);
    expect(await readPayToken(deployment(), token)).toEqual({ type: 'Invoice', id: made.svc_id, isExpired: false });
    for (let at = 0; at < token.length; at += 1) {
      const other = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      expect(await readPayToken(deployment(), other), `letter ${at}`).toBeUndefined();
    }
    for (const bad of [`${token}A`, token.slice(1), 'x', encodeURIComponent('ä'), `${'A'.repeat(47)}%`])
      expect((await visit(`/pay/${bad}`)).status, bad).toBe(404);
  });

  test('a link outlives the secret that signed it, and ends after its life with 410 and nothing about its invoice', async () => {
    await customer();
    const made = await invoice(14900);
    const path = await pathOf('Invoice', made.svc_id);
    await rotateKey({ sql: service.sql, config: service.config }, 'links');
    expect((await visit(path)).status).toBe(200);
    const longAgo = Temporal.Now.instant().subtract({ hours: 24 * 61 });
    const expired = await visit(await pathOf('Invoice', made.svc_id, longAgo), 'GET', { 'accept-language': 'de' });
    expect(expired.status).toBe(410);
    expect(expired.text).toContain('Dieser Link ist abgelaufen');
    expect(expired.text).not.toContain(made.number);
    expect((await visit(await pathOf('Invoice', made.svc_id, longAgo), 'POST')).status).toBe(410);
  });

  test('the token of an invoice opens no request, and the other way round', async () => {
    await customer();
    const made = await invoice(14900);
    expect((await visit(await pathOf('PaymentRequest', made.svc_id))).status).toBe(404);
  });

  test('an address has thirty requests a minute, of which the others cost no statement', async () => {
    await customer();
    const path = await pathOf('Invoice', (await invoice(14900)).svc_id);
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const statuses: number[] = [];
    for (let n = 0; n < 65; n += 1) statuses.push((await visit(path, n % 2 === 0 ? 'GET' : 'POST', headers)).status);
    // The minute of the clock may turn once meanwhile.
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(60);
    expect(statuses.slice(0, 30).every((status) => status === 200)).toBe(true);
    expect(statuses).toContain(429);
    expect((await visit(path)).status).toBe(200);
  });
});

describe('what the page shows', () => {
  test('an invoice that can be paid shows issuer, number, amount and one button, and reading opens nothing', async () => {
    const [entity] = (await ok(client.get('/billing_entities'))).billing_entities;
    await ok(
      client.put(`/billing_entities/${entity.code}`, {
        billing_entity: { legal_name: 'Sell & <b>Co</b>', email: 'billing@sell.example' },
      }),
    );
    await linkedCustomer();
    const made = await invoice(14900);
    const { status, text, headers } = await visit(await pathOf('Invoice', made.svc_id));
    expect(status).toBe(200);
    for (const shown of [
      'Sell &amp; &lt;b&gt;Co&lt;/b&gt;',
      made.number,
      '€149.00 due',
      'Pay €149.00',
      'billing@sell.example',
    ])
      expect(text).toContain(shown);
    expect(text.match(/<button/g)).toHaveLength(1);
    expect(text).not.toMatch(/<script|https?:\/\/(?!www\.w3)/);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; .*form-action 'self'/,
    );
    expect(await pages()).toEqual([]);
  });

  test('a customer without a connection is shown the bank account of the currency and what to quote', async () => {
    const [entity] = (await ok(client.get('/billing_entities'))).billing_entities;
    await ok(
      client.put(`/billing_entities/${entity.code}`, {
        billing_entity: {
          name: 'Seller',
          bank_accounts: [
            { iban: 'GB33BUKB20201555555555', currency: 'GBP' },
            { iban: 'DE02120300000000202051', bic: 'BYLADEM1001', holder: 'Seller GmbH', currency: 'EUR' },
          ],
        },
      }),
    );
    await customer();
    const { made, invoices } = await requested(14900, 600);
    const path = await pathOf('PaymentRequest', made.svc_id);
    const { text } = await visit(path);
    for (const shown of ['€155.00', 'DE02 1203 0000 0000 2020 51', 'BYLADEM1001', 'Seller GmbH'])
      expect(text).toContain(shown);
    expect(text).toContain(invoices.map(({ number }) => number).join(', '));
    expect(text).not.toContain('GB33');
    expect(text).not.toContain('<form');
    expect((await visit(path, 'POST')).text).toContain('DE02 1203');
  });

  test('without a connection and an account it says whom to ask', async () => {
    await customer();
    const { text } = await visit(await pathOf('Invoice', (await invoice(14900)).svc_id));
    expect(text).toMatch(/Please ask .+ how to pay\./);
    expect(text).not.toContain('<form');
  });

  test('a voided invoice, one that a credit note settled, and one that was paid by hand say so', async () => {
    await customer();
    const [voided, credited, paid] = [await invoice(14900), await invoice(600), await invoice(700)];
    await ok(client.post(`/invoices/${voided.svc_id}/void`));
    const offset = { invoice_id: credited.svc_id, offset_amount_cents: 600 };
    await ok(
      client.post('/credit_notes', {
        credit_note: { ...offset, items: [{ fee_id: credited.fees[0].svc_id, amount_cents: 600 }] },
      }),
    );
    await ok(client.post('/payments', { payment: { invoice_id: paid.svc_id, amount_cents: 700, reference: 'bank' } }));
    const textOf = async (made: Loose) => (await visit(await pathOf('Invoice', made.svc_id))).text;
    expect(await textOf(voided)).toContain('This invoice was cancelled');
    expect(await textOf(credited)).toContain('Nothing to pay');
    expect(await textOf(paid)).toContain('Paid, thank you');
    expect(await textOf(paid)).not.toContain('Payable until');
    expect(await visit(await pathOf('Invoice', paid.svc_id), 'POST')).toMatchObject({ status: 200 });
    expect(await pages()).toEqual([]);
  });

  test('a draft has no page', async () => {
    await customer();
    const made = await invoice(14900);
    await service.sql`update invoices set status = 'draft' where id = ${made.svc_id}`;
    expect((await visit(await pathOf('Invoice', made.svc_id))).status).toBe(404);
  });

  test('the page speaks the language of the customer’s documents', async () => {
    await customer({ billing_configuration: { document_locale: 'fr' } });
    const { text } = await visit(await pathOf('Invoice', (await invoice(14900)).svc_id));
    expect(text).toContain('<html lang="fr">');
  });
});

test('every language has every word, with the same braces', () => {
  const braces = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([brace]) => brace).sort();
  const wordsOf = (texts: object): [string, string][] =>
    Object.entries(texts).flatMap(([key, value]) =>
      typeof value === 'string'
        ? [[key, value] as [string, string]]
        : wordsOf(value as object).map(([inner, text]): [string, string] => [`${key}.${inner}`, text]),
    );
  const english = wordsOf(payTextsOf('en') satisfies PayTexts);
  for (const locale of ['de', 'es', 'fr', 'it', 'nb', 'pt-BR', 'sv', 'zh-TW'] as const) {
    const words = Object.fromEntries(wordsOf(payTextsOf(locale)));
    for (const [key, text] of english) {
      expect(braces(words[key]!), `${locale} ${key}`).toEqual(braces(text));
      expect(words[key], `${locale} ${key}`).not.toBe(text);
    }
  }
});

describe('the button', () => {
  test('it leads to the provider’s page, which returns to the link; two presses at once give one page', async () => {
    await linkedCustomer();
    const made = await invoice(14900);
    const path = await pathOf('Invoice', made.svc_id);
    const [one, other] = await Promise.all([visit(path, 'POST'), visit(path, 'POST')]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(one.headers.refresh).toMatch(/^0; url=https:\/\/pay\.test\/cs_/);
    expect(other.headers.refresh).toBe(one.headers.refresh);
    expect(one.text).toContain(`href="${String(one.headers.refresh).slice('0; url='.length)}"`);
    expect(await pages()).toMatchObject([{ payable_id: made.svc_id, amount_cents: 14900, closed_at: null }]);
    expect(stripe.pages.at(-1)).toEqual({ amount: 14900, currency: 'eur' });
    const returned = stripe.returns.at(-1)!;
    expect(returned).toMatch(/\/pay\/[\w-]{48}\?returned$/);
    const back = await visit(`${new URL(returned).pathname}?returned`);
    expect(back.text).toContain('Your payment is under way');
    expect(back.headers.refresh).toBe('10');
    await paidOnPage('Invoice', made.svc_id, 14900);
    await until(async () => (await read(made)).payment_status === 'succeeded' || undefined);
    expect((await visit(`${new URL(returned).pathname}?returned`)).text).toContain('Paid, thank you');
    expect(
      await service.sql`
      select from api_logs where organization_id = ${client.organization.organization_id}
        and request_path in ('', '/pay')`,
    ).toHaveLength(0);
  });

  test('an invoice that is voided between looking and pressing is not paid', async () => {
    await linkedCustomer();
    const made = await invoice(14900);
    const path = await pathOf('Invoice', made.svc_id);
    expect((await visit(path)).text).toContain('<form');
    await ok(client.post(`/invoices/${made.svc_id}/void`));
    const pressed = await visit(path, 'POST');
    expect([pressed.status, pressed.headers.refresh]).toEqual([200, undefined]);
    expect(pressed.text).toContain('This invoice was cancelled');
    expect(await pages()).toEqual([]);
  });

  test('a page that the provider refuses, and a provider that is away, ask to try again and charge nothing', async () => {
    await linkedCustomer();
    const path = await pathOf('Invoice', (await invoice(10)).svc_id);
    const refused = await visit(path, 'POST');
    expect([refused.status, refused.headers.refresh]).toEqual([502, undefined]);
    expect(refused.text).toContain('Nothing was charged');
    expect(refused.text).toContain('<form');
    const other = await pathOf('Invoice', (await invoice(14900)).svc_id);
    stripe.isDown = true;
    const away = await visit(other, 'POST').finally(() => {
      stripe.isDown = false;
    });
    expect(away.status).toBe(503);
    expect(away.text).toContain('Try again');
  }, 60_000);

  test('with the queue away the page says to try again, at once', async () => {
    await linkedCustomer();
    const path = await pathOf('Invoice', (await invoice(14900)).svc_id);
    const add = vi
      .spyOn(service.ingress.producer, 'add')
      .mockRejectedValue(
        Object.assign(new Error('READONLY You can not write against a read only replica.'), { name: 'ReplyError' }),
      );
    const pressed = await visit(path, 'POST').finally(() => add.mockRestore());
    expect(pressed.status).toBe(503);
    expect(pressed.text).toContain('Nothing was charged');
    expect((await visit(path, 'POST')).status).toBe(200);
  });
});

describe('a payment request', () => {
  const makeUrl = (made: Loose) => client.post(`/payment_requests/${made.svc_id}/payment_url`);

  test('its page takes both amounts and settles each invoice; the link then says paid (FI19)', async () => {
    await linkedCustomer();
    const { made, invoices } = await requested(14900, 600);
    const path = await pathOf('PaymentRequest', made.svc_id);
    const seen = await visit(path);
    for (const shown of ['Pay €155.00', ...invoices.map(({ number }) => number)]) expect(seen.text).toContain(shown);
    const { payment_request_payment_details: details } = await ok(makeUrl(made));
    expect(details).toEqual({
      svc_payment_request_id: made.svc_id,
      payment_provider: 'stripe',
      payment_url: expect.stringMatching(/^https:\/\/pay\.test\/cs_/),
    });
    expect((await visit(path, 'POST')).headers.refresh).toBe(`0; url=${details.payment_url}`);
    expect(stripe.pages.at(-1)).toEqual({ amount: 15500, currency: 'eur' });
    await paidOnPage('PaymentRequest', made.svc_id, 15500);
    for (const each of invoices)
      await until(async () => (await read(each)).payment_status === 'succeeded' || undefined);
    expect((await read(invoices[0])).total_paid_amount_cents).toBe(14900);
    expect((await read(invoices[1])).total_paid_amount_cents).toBe(600);
    expect((await ok(client.get(`/payment_requests/${made.svc_id}`))).payment_request.payment_status).toBe('succeeded');
    expect(await booked()).toEqual([
      { account: 'cash', amount: 15500 },
      { account: 'receivable', amount: 14900 },
      { account: 'receivable', amount: 600 },
    ]);
    expect((await visit(path)).text).toContain('Paid, thank you');
    expect((await makeUrl(made)).body.error_details).toEqual({ base: ['invalid_invoice_status_or_payment_status'] });
  });

  test('its mail names both numbers, the total and one link, which the stored mail does not hold (FI19)', async () => {
    await linkedCustomer();
    const { made, invoices } = await requested(14900, 600);
    const stored = await mailed();
    for (const shown of [...invoices.map(({ number }) => number), '€149.00', '€6.00', 'Total: €155.00'])
      expect(stored.body).toContain(shown);
    expect(stored.subject).toContain('please pay €155.00');
    expect(stored.recipients).toEqual(['pay@acme.example']);
    expect(stored.body).not.toContain('/pay/');
    const [text] = await withPayLinks(deployment(), [stored.body]);
    const links = [...text!.matchAll(/\/pay\/([\w-]+)/g)].map(([, token]) => token!);
    expect(links).toHaveLength(1);
    expect(await readPayToken(deployment(), links[0]!)).toMatchObject({ type: 'PaymentRequest', id: made.svc_id });
  });

  test('without a connection its mail names the account and the reference, else whom to ask; a name makes no link', async () => {
    const [entity] = (await ok(client.get('/billing_entities'))).billing_entities;
    const name = 'Seller \uE000I0198c0de-0000-7000-8000-000000000000\uE001';
    const put = (fields: object) => ok(client.put(`/billing_entities/${entity.code}`, { billing_entity: fields }));
    await put({ name, email: 'billing@sell.example' });
    await customer();
    const { made } = await requested(14900);
    const asked = (await mailed()).body;
    expect(asked).toMatch(/Please ask Seller .*\sbilling@sell\.example\show\sto\spay\./);
    const [text] = await withPayLinks(deployment(), [asked]);
    const links = [...text!.matchAll(/\/pay\/([\w-]+)/g)].map(([, token]) => token!);
    expect(links).toHaveLength(1);
    expect(await readPayToken(deployment(), links[0]!)).toMatchObject({ id: made.svc_id });
    await put({ bank_accounts: [{ iban: 'DE02120300000000202051', currency: 'EUR' }] });
    const { invoices } = await requested(600);
    expect((await mailed(2)).body).toContain(`IBAN: DE02120300000000202051\nReference: ${invoices[0].number}`);
  });

  test('when an invoice is paid otherwise its page closes, and the next one asks for the rest', async () => {
    await linkedCustomer();
    const { made, invoices } = await requested(14900, 600);
    await ok(makeUrl(made));
    const pay = { invoice_id: invoices[0].svc_id, amount_cents: 14900, reference: 'bank' };
    await ok(client.post('/payments', { payment: pay }));
    expect((await pages()).map(({ closed_at }) => closed_at === null)).toEqual([false]);
    await ok(makeUrl(made));
    expect((await pages()).map(({ amount_cents, closed_at }) => [amount_cents, closed_at === null])).toEqual([
      [15500, false],
      [600, true],
    ]);
    // The former page was being paid nevertheless: what is not due is kept apart.
    await paidOnPage('PaymentRequest', made.svc_id, 15500);
    await until(async () => (await read(invoices[1])).payment_status === 'succeeded' || undefined);
    expect((await read(invoices[1])).total_paid_amount_cents).toBe(600);
    expect((await booked()).slice(2)).toEqual([
      { account: 'cash', amount: 15500 },
      { account: 'receivable', amount: 600 },
      { account: 'unapplied_receipts', amount: 14900 },
    ]);
  });

  test('an invoice that owes again when the page is paid stays due', async () => {
    await linkedCustomer();
    const { made, invoices } = await requested(14900, 600);
    await paidOnPage('PaymentRequest', made.svc_id, 14900);
    await until(async () => (await read(invoices[0])).payment_status === 'succeeded' || undefined);
    expect(await read(invoices[1])).toMatchObject({ payment_status: 'pending', total_due_amount_cents: 600 });
  });

  test('each refusal of its link, in order', async () => {
    await customer();
    const { made } = await requested(14900);
    const refusal = async () => (await makeUrl(made)).body.error_details;
    expect(await refusal()).toEqual({ base: ['no_linked_payment_provider'] });
    await ok(
      client.post('/customers', {
        customer: { external_id: 'acme', billing_configuration: { payment_provider: 'gocardless' } },
      }),
    );
    expect(await refusal()).toEqual({ base: ['invalid_payment_provider'] });
    const unknown = await client.post('/payment_requests/0198c0de-0000-7000-8000-000000000000/payment_url');
    expect([unknown.status, unknown.body.resource]).toEqual([404, 'payment_request']);
  });
});

describe('another organization', () => {
  test('its token shows only its own invoice, and its key opens no page of others', async () => {
    await customer();
    const { made } = await requested(14900);
    const stranger = await service.org();
    expect((await stranger.post(`/payment_requests/${made.svc_id}/payment_url`)).status).toBe(404);
  });
});
