import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readPayToken } from '../../../src/areas/messaging/mails/pay-link.ts';
import { failWaitingMails, releaseMails } from '../../../src/areas/messaging/mails/post-mail.ts';
import { listAttachedFiles } from '../../../src/areas/messaging/mails/queries.ts';
import type { Context } from '../../../src/platform/context.ts';
import type { Db } from '../../../src/platform/db/connect.ts';
import type { DocumentId, OrganizationId } from '../../../src/platform/ids.ts';
import type { Client } from '../../support/client.ts';
import { openMailServer, type ReceivedMail } from '../../support/fakes/smtp.ts';
import { FAKE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { partsOf } from '../../support/mail-parts.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Mails that ask for payment, as a mail server receives them: payment-requests.md#the-mail-of-a-request.
let service: TestService;
let stripe: FakeStripe;
let server: Awaited<ReturnType<typeof openMailServer>>;
let client: Client & { organization: { organization_id: string } };
let organizationId: OrganizationId;

const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ACCOUNT = { iban: 'DE02120300000000202051', bic: 'BYLADEM1001', holder: 'Seller GmbH', currency: 'EUR' };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  [stripe, server] = await Promise.all([fakeStripe(), openMailServer()]);
  service = await startService({
    pools: UNSCHEDULED,
    settings: { STRIPE_API_URL: stripe.url, SMTP_URL: server.url, MAIL_FROM: 'billing@house.test' },
  });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([stripe.close(), server.close()]);
});

beforeEach(async () => {
  server.mails.length = 0;
  client = await service.org();
  organizationId = client.organization.organization_id as OrganizationId;
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1, amount_currency: 'EUR' } }),
  );
});

const CUSTOMER = { external_id: 'acme', name: 'Acme', currency: 'EUR', email: 'pay@acme.example' };
const customer = (fields: object = {}) => ok(client.post('/customers', { customer: { ...CUSTOMER, ...fields } }));

async function issuer(fields: object): Promise<void> {
  const [entity] = (await ok(client.get('/billing_entities'))).billing_entities;
  await ok(client.put(`/billing_entities/${entity.code}`, { billing_entity: fields }));
}

/** A customer that Stripe knows, with no method to be charged. */
async function linkedCustomer(locale: string): Promise<void> {
  await ok(
    client.post('/payment_providers', {
      payment_provider: { type: 'stripe', code: 'main', name: 'Main', secret_key: FAKE_KEY },
    }),
  );
  const linked = { payment_provider: 'stripe', payment_provider_code: 'main', sync_with_provider: true };
  await customer({ billing_configuration: { ...linked, document_locale: locale } });
  await until(async () => {
    const { customer: made } = await ok(client.get('/customers/acme'));
    return made.billing_configuration.provider_customer_id as string | undefined;
  });
}

/** Overdue invoices of these amounts. */
async function overdue(...cents: number[]): Promise<Loose[]> {
  const invoices: Loose[] = [];
  for (const each of cents) {
    const fees = [{ add_on_code: 'setup', unit_amount_cents: each, units: 1 }];
    const made = await ok(
      client.post('/invoices', { invoice: { external_customer_id: 'acme', currency: 'EUR', fees } }),
    );
    invoices.push(made.invoice);
  }
  const ids = invoices.map(({ svc_id }) => svc_id);
  await service.sql`update invoices set payment_overdue = true where id = any (${ids}::uuid[])`;
  return invoices;
}

const request = async (invoices: readonly Loose[]): Promise<Loose> =>
  (
    await ok(
      client.post('/payment_requests', {
        payment_request: { external_customer_id: 'acme', svc_invoice_ids: invoices.map(({ svc_id }) => svc_id) },
      }),
    )
  ).payment_request;

const received = (): Promise<ReceivedMail> => until(async () => server.mails[0]);

/** The text, the page and the files of a received mail. */
function readMail({ data }: ReceivedMail) {
  const parts = partsOf(data);
  const ofType = (type: string) => parts.filter((part) => part.type === type);
  const [text, page] = [ofType('text/plain'), ofType('text/html')];
  expect([text.length, page.length]).toEqual([1, 1]);
  return { parts, text: text[0]!.text, html: page[0]!.text, pdfs: ofType('application/pdf') };
}

/** Every address in a text. */
const addresses = (text: string): string[] => text.match(/https?:\/\/[^\s"'<>]+/g) ?? [];

/** One link to the pay page, and one to the customer's pages below. */
async function expectLinks(text: string, made: Loose): Promise<void> {
  const [link, ...others] = addresses(text);
  expect(others).toEqual([expect.stringContaining('/customer-portal/')]);
  const token = /\/pay\/([\w-]{48})$/.exec(link!)![1]!;
  const deployment = { db: service.sql, config: service.config };
  expect(await readPayToken(deployment, token)).toEqual({ type: 'PaymentRequest', id: made.svc_id, isExpired: false });
}

/** The context of a transaction of the organization, as far as mails need it. */
const contextOf = (db: Db): Context =>
  ({
    organizationId,
    sandbox: false,
    db,
    config: service.config,
    log: { warn: () => {} },
    after: () => {},
  }) as unknown as Context;

/** Documents of invoices that no worker draws by itself. */
async function waitingDocuments(invoices: readonly Loose[], content: Buffer | null): Promise<DocumentId[]> {
  const ids: DocumentId[] = [];
  for (const { svc_id, number } of invoices) {
    const [row] = await service.sql<{ id: DocumentId }[]>`
      insert into documents (id, organization_id, kind, subject_id, file_name, content, requested_at, enqueued_at)
      values (gen_random_uuid(), ${organizationId}, 'invoice', ${svc_id}, ${`${number}.pdf`}, ${content}, now(), now())
      returning id`;
    ids.push(row!.id);
  }
  return ids;
}

const stored = (): Promise<Loose> =>
  until(async () => (await service.sql`select * from mails where organization_id = ${organizationId}`)[0]);
const draw = (db: Db, id: DocumentId) => db`update documents set content = ${Buffer.from('%PDF-')} where id = ${id}`;

describe('the parts of a mail', () => {
  test('a mail with a pay link has the same words as text and as a page, the PDFs and the logo', async () => {
    await issuer({ legal_name: 'Sell & <b>Co</b>', email: 'billing@sell.example', logo: LOGO });
    await linkedCustomer('de');
    const invoices = await overdue(14900, 600);
    const made = await request(invoices);
    const { parts, text, html, pdfs } = readMail(await received());
    expect(parts.map(({ type }) => type)).toEqual([
      'text/plain',
      'text/html',
      'image/png',
      'application/pdf',
      'application/pdf',
    ]);
    expect(pdfs.map(({ fileName }) => fileName)).toEqual(invoices.map(({ number }) => `${number}.pdf`));
    for (const { content } of pdfs) expect(content.subarray(0, 5).toString()).toBe('%PDF-');
    const shown = [
      ...invoices.map(({ number }) => number),
      '149,00\u00a0€',
      '6,00\u00a0€',
      '155,00\u00a0€',
      'sind überfällig',
      'Der Link gilt 60 Tage',
      'billing@sell.example',
    ];
    for (const each of shown.filter((word) => !word.startsWith('Der'))) expect(text).toContain(each);
    for (const each of shown) expect(html).toContain(each);
    expect(text).toContain('Sell & <b>Co</b>');
    expect(html).toContain('Sell &amp; &lt;b&gt;Co&lt;/b&gt;');
    expect(html).toContain('<html lang="de">');
    expect(html).toMatch(/<img class="logo" src="cid:[^"]+"/);
    expect(html).not.toMatch(/<script|<form|data:image/);
    expect(html.match(/<a class="button"/g)).toHaveLength(1);
    await expectLinks(text, made);
    await expectLinks(html, made);
    const mail = await stored();
    expect([mail.body, mail.html].join()).not.toMatch(/\/pay\/|customer-portal/);
  });

  test('without a page it names the account and what to quote, and links the invoices', async () => {
    await issuer({ name: 'Seller', bank_accounts: [ACCOUNT] });
    await customer();
    const invoices = await overdue(14900, 600);
    const made = await request(invoices);
    const { text, html, pdfs } = readMail(await received());
    const reference = invoices.map(({ number }) => number).join(', ');
    for (const part of [text, html]) {
      expect(part.replaceAll(' ', '')).toContain('DE02120300000000202051');
      for (const shown of ['BYLADEM1001', 'Seller GmbH', reference, 'View the invoices']) expect(part).toContain(shown);
      await expectLinks(part, made);
    }
    expect(html).not.toContain('<a class="button"');
    expect(pdfs).toHaveLength(2);
  });

  test('without an account either it says whom to ask', async () => {
    await issuer({ name: 'Seller', email: 'billing@sell.example' });
    await customer();
    const made = await request(await overdue(700));
    const { text, html } = readMail(await received());
    for (const part of [text, html]) {
      expect(part).toContain('Please ask Seller billing@sell.example how to pay.');
      await expectLinks(part, made);
    }
  });

  test('a bank debit on its way is said at its invoice with the day on which it is expected', async () => {
    await customer();
    const [debited, other] = await overdue(14900, 600);
    const [row] = await service.sql`select id from customers where organization_id = ${organizationId}`;
    const [payment] = await service.sql`
      insert into payments (id, organization_id, customer_id, payable_type, payable_id, payment_type, amount_cents,
        amount_currency, status, payment_status, expected_settlement_date, created_at, updated_at)
      values (gen_random_uuid(), ${organizationId}, ${row!.id}, 'Invoice', ${debited.svc_id}, 'provider', 14900, 'EUR',
        'submitted', 'processing', '2027-01-05', now(), now()) returning id`;
    await service.sql`
      insert into payment_invoices (organization_id, payment_id, invoice_id, amount_cents)
      values (${organizationId}, ${payment!.id}, ${debited.svc_id}, 14900)`;
    await request([debited, other]);
    const { text, html } = readMail(await received());
    for (const part of [text, html]) expect(part.match(/Payment\s+expected\s+on/g)).toHaveLength(1);
    expect(text.replace(/\r?\n {2}/g, ' ')).toMatch(
      new RegExp(`- ${debited.number} .*Payment expected on Jan 5, 2027`),
    );
  });
});

describe('the files of a mail', () => {
  test('invoices of more than 10 MB together are not attached, and can be opened by the link', async () => {
    await customer();
    const invoices = await overdue(700, 800);
    await waitingDocuments(invoices, Buffer.alloc(5_000_001));
    const made = await request(invoices);
    const { text, pdfs } = readMail(await received());
    expect(pdfs).toEqual([]);
    await expectLinks(text, made);
  });

  test('invoices of exactly 10 MB together are attached', async () => {
    await customer();
    const invoices = await overdue(700, 800);
    await waitingDocuments(invoices, Buffer.alloc(5_000_000));
    await request(invoices);
    expect(readMail(await received()).pdfs.map(({ content }) => content.length)).toEqual([5_000_000, 5_000_000]);
  });

  test('a mail waits for the last of its documents, also when two are stored at the same time', async () => {
    await customer();
    const invoices = await overdue(700, 800, 900);
    const [first, second, third] = await waitingDocuments(invoices, null);
    await request(invoices);
    const mail = await stored();
    const statusOf = async () => (await service.sql`select status from mails where id = ${mail.id}`)[0]!.status;
    await service.sql.begin(async (tx) => {
      await draw(tx, first!);
      await releaseMails(contextOf(tx), first!);
    });
    expect(await statusOf()).toBe('waiting');
    let released = () => {};
    const isReleased = new Promise<void>((resolve) => {
      released = resolve;
    });
    let commit = () => {};
    const mayCommit = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const one = service.sql.begin(async (tx) => {
      await draw(tx, second!);
      await releaseMails(contextOf(tx), second!);
      released();
      await mayCommit;
    });
    await isReleased;
    const other = service.sql.begin(async (tx) => {
      await draw(tx, third!);
      const releasing = releaseMails(contextOf(tx), third!);
      setTimeout(commit, 100);
      await releasing;
    });
    await Promise.all([one, other]);
    expect(await statusOf()).toBe('pending');
  });

  test('a mail goes without a document that cannot be drawn', async () => {
    await customer();
    const invoices = await overdue(700, 800);
    const [drawn, lost] = await waitingDocuments(invoices, null);
    await request(invoices);
    const mail = await stored();
    await service.sql.begin(async (tx) => {
      await draw(tx, drawn!);
      await releaseMails(contextOf(tx), drawn!);
    });
    await service.sql.begin(async (tx) => {
      await tx`update documents set given_up_at = ${Temporal.Now.instant()} where id = ${lost!}`;
      await failWaitingMails(contextOf(tx), lost!);
    });
    expect((await service.sql`select status from mails where id = ${mail.id}`)[0]!.status).toBe('pending');
    const files = await listAttachedFiles({ db: service.sql, organizationId }, mail.id);
    expect(files.map(({ file_name }) => file_name)).toEqual([`${invoices[0].number}.pdf`]);
  });
});
