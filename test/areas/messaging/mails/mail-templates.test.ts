import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mailRequest } from '../../../../src/areas/payments/collect-payments/request-mail.ts';
import { getRequest } from '../../../../src/areas/payments/payment-requests/queries.ts';
import type { Context } from '../../../../src/platform/context.ts';
import type { PaymentRequestId } from '../../../../src/platform/ids.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

// Templates, a seller's own words, settings and the log of mails over HTTP: docs/rules/mails.md.
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Loose = any;
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-11-01T08:00:00Z');
  await entity({
    legal_name: 'Nord GmbH',
    email: 'help@nord.example',
    default_currency: 'EUR',
    email_settings: ['invoice.finalized'],
  });
});
afterAll(() => service.stop());

let entityCode: string;
async function entity(fields: object): Promise<void> {
  const [found] = (await ok(story.client.get('/billing_entities'))).billing_entities;
  entityCode = found.code;
  await ok(story.client.put(`/billing_entities/${entityCode}`, { billing_entity: fields }));
}

const mailsTo = (address: string, count = 1): Promise<Loose[]> =>
  until(async () => {
    const found = (await ok(story.client.get('/sandbox/mails?per_page=100'))).mails;
    const mails = found.filter(({ to }: Loose) => to.includes(address));
    return mails.length >= count ? mails : undefined;
  });
const put = (path: string, mail_template: object) => story.client.put(`/mail_templates/${path}`, { mail_template });
const preview = (name: string, mail_template: object) =>
  story.client.post(`/mail_templates/${name}/preview`, { mail_template });

describe('a seller’s own words', () => {
  test('an example has the date of its kind', async () => {
    const textOf = async (name: string) => (await ok(preview(name, { locale: 'de' }))).preview.text;
    expect(await textOf('invoice')).toContain('Rechnungsdatum');
    expect(await textOf('credit_note')).toMatch(/Gutschriftsdatum/);
    expect(await textOf('payment_receipt')).not.toContain('Rechnungsdatum');
  });

  test('are shown beside the built-in ones, hold for one language, and go with DELETE', async () => {
    const before = (await ok(story.client.get('/mail_templates/invoice/de'))).mail_template;
    expect(before).toMatchObject({
      overridden: null,
      built_in: { intro: 'Ihre Rechnung {number} liegt als PDF bei.' },
    });
    const words = { subject: 'Rechnung {number}', intro: 'Guten Tag {customer_name}!' };
    const after = (await ok(put('invoice/de', words))).mail_template;
    expect(after.overridden).toEqual({ ...words, closing: null });
    expect((await ok(put('invoice/de', { intro: ' ' }))).mail_template.overridden).toMatchObject({ intro: null });
    expect((await ok(preview('invoice', { locale: 'de' }))).preview.subject).toBe('Rechnung INV-7');
    expect((await ok(preview('invoice', { locale: 'fr' }))).preview.subject).toMatch(/^Facture INV-7 de Nord GmbH :/);
    const { mail_templates: all } = await ok(story.client.get('/mail_templates'));
    expect(all.filter(({ overridden }: Loose) => overridden)).toHaveLength(1);
    expect(all).toHaveLength(16 * 9);
    const gone = (await ok(story.client.delete('/mail_templates/invoice/de'))).mail_template;
    expect(gone).toEqual(before);
  });

  test.each([
    [{ subject: '{numbr}' }, { subject: ['unknown_placeholder'] }],
    [{ closing: 'after {attempt}' }, { closing: ['unknown_placeholder'] }],
    [{ subject: 'x'.repeat(151) }, { subject: ['value_is_too_long'] }],
    [{ intro: 'x'.repeat(2001) }, { intro: ['value_is_too_long'] }],
  ])('with %j are refused (CO38)', async (sent, error_details) => {
    expect((await put('invoice/de', sent)).body).toMatchObject({ status: 422, error_details });
    expect((await preview('invoice', { locale: 'de', ...sent })).body).toMatchObject({ status: 422, error_details });
  });

  test('of an unknown template or language are not found', async () => {
    for (const path of ['bill/de', 'invoice/xx', 'constructor/de'])
      expect((await put(path, { subject: 'x' })).body).toMatchObject({ status: 404, resource: 'mail_template' });
    expect((await preview('bill', { locale: 'de' })).status).toBe(404);
  });
});

test('a preview has the same links in both parts, all of them #, whatever the template', async () => {
  const { mail_templates: all } = await ok(story.client.get('/mail_templates'));
  for (const { name, locale } of all.filter((each: Loose) => ['en', 'zh-TW'].includes(each.locale))) {
    const { subject, html, text } = (await ok(preview(name, { locale }))).preview;
    expect(subject, name).not.toMatch(/[{}]/);
    expect(html).toContain(`<html lang="${locale}">`);
    expect(`${html}${text}`, name).not.toMatch(/[\uE000-\uE002]|\{\w+\}/);
    // The room of a console lets nobody in, and an endpoint has an address.
    if (['endpoint_disabled', 'key_created'].includes(name)) continue;
    expect(`${html}${text}`, name).not.toMatch(/https?:\/\//);
    expect(text.match(/^#$/gm)?.length ?? 0, `${name} ${text}`).toBe(html.match(/href="#"/g)?.length ?? 0);
  }
});

test('an invoice is previewed as it is mailed, in the language of its mail; paid it asks for nothing (CO37)', async () => {
  await story.customer({ external_id: 'preview', name: '<b>x</b>', email: 'p@reader.example' });
  const invoice = await story.oneOff(123_456, 'preview');
  const shown = (await ok(preview('invoice', { locale: 'en', svc_resource_id: invoice.svc_id }))).preview;
  expect(shown.subject).toMatch(new RegExp(`^Invoice ${invoice.number} from Nord GmbH: \\$1,234.56 due `));
  const words = { locale: 'en', svc_resource_id: invoice.svc_id, intro: 'Dear {customer_name}' };
  expect((await ok(preview('invoice', words))).preview).toMatchObject({
    html: expect.stringContaining('Dear &lt;b&gt;x&lt;/b&gt;'),
    text: expect.stringContaining('Dear <b>x</b>'),
  });
  expect((await preview('invoice', { locale: 'de', svc_resource_id: invoice.svc_id })).body).toMatchObject({
    error_details: { locale: ['value_is_invalid'] },
  });
  await story.pay(invoice.svc_id, 123_456);
  const paid = (await ok(preview('invoice', { locale: 'en', svc_resource_id: invoice.svc_id }))).preview;
  expect(paid.subject).toBe(`Invoice ${invoice.number} from Nord GmbH`);
  expect(paid.text).toContain('$1,234.56 paid');
  expect(paid.html).not.toContain('<a class="button"');
});

test('a test goes to one address, says so, lets nobody in, and ten go an hour', async () => {
  const send = (to: string) =>
    story.client.post('/mail_templates/invoice_overdue/test', { mail_template: { locale: 'en', to } });
  for (let count = 0; count < 10; count += 1) await ok(send('me@nord.example'));
  const [mail] = await mailsTo('me@nord.example', 10);
  expect(mail.subject).toBe('[Test] Reminder: €1,254.56 to Nord GmbH is overdue');
  expect(`${mail.text}${mail.html}`).not.toMatch(/https?:/);
  expect((await send('me@nord.example')).body).toMatchObject({ error_details: { to: ['invalid_count'] } });
  expect((await send('a@b.example,c@d.example')).body).toMatchObject({
    error_details: { to: ['invalid_email_format'] },
  });
});

describe('settings of mails', () => {
  const path = () => `/billing_entities/${entityCode}/mail_settings`;
  const choose = (templates: object) => story.client.put(path(), { mail_settings: { templates } });

  test('show which mails are sent, and change those that the contract does not know', async () => {
    const { templates } = (await ok(story.client.get(path()))).mail_settings;
    expect(templates).toEqual({
      invoice: true,
      credit_note: false,
      payment_receipt: false,
      invoice_overdue: true,
      payment_request: true,
      payment_action: true,
      payment_failed: false,
      portal_link: true,
      details_changed: true,
      wallet_low: false,
      top_up_failed: false,
      trial_ending: false,
      subscription_ending: false,
      usage_alert: true,
      endpoint_disabled: true,
      key_created: true,
    });
    const changed = (await ok(choose({ payment_failed: true, invoice: true }))).mail_settings.templates;
    expect(changed).toEqual({ ...templates, payment_failed: true });
    await ok(choose({ payment_failed: false }));
    expect((await choose({ invoice: false })).body.error_details).toEqual({ templates: ['value_is_frozen'] });
    for (const wrong of [{ bill: true }, { portal_link: 'perhaps' }, { constructor: true }])
      expect((await choose(wrong)).body.error_details).toEqual({ templates: ['value_is_invalid'] });
  });

  test('switched off, a request is not mailed', async () => {
    await ok(choose({ payment_request: false }));
    await story.customer({ external_id: 'quiet', email: 'quiet@reader.example' });
    const { svc_id } = await story.oneOff(500, 'quiet');
    await service.sql`update invoices set payment_overdue = true where id = ${svc_id}`;
    const asked = { external_customer_id: 'quiet', svc_invoice_ids: [svc_id] };
    await ok(story.client.post('/payment_requests', { payment_request: asked }));
    await until(async () => {
      const [row] = await service.sql`
        select count(*) as owed from after_steps where organization_id = ${story.organizationId}`;
      return row!.owed === 0;
    });
    expect((await ok(story.client.get('/mails?templates[]=payment_request'))).mails).toEqual([]);
    await ok(choose({ payment_request: true }));
  });
});

describe('reminders of a campaign', () => {
  test('sound friendly, then firm, at last final, and come once whatever runs twice (CO39)', async () => {
    await story.customer({ external_id: 'late', email: 'late@reader.example' });
    const invoice = await story.oneOff(5000, 'late');
    await service.sql`update invoices set payment_overdue = true where id = ${invoice.svc_id}`;
    const thresholds = [{ amount_cents: 1, currency: 'USD' }];
    await ok(
      story.client.post('/dunning_campaigns', {
        dunning_campaign: {
          code: 'three',
          name: 'Three',
          max_attempts: 3,
          days_between_attempts: 1,
          thresholds,
          applied_to_organization: true,
        },
      }),
    );
    await story.advanceTo('2026-11-08T08:00:00Z');
    const mails = await mailsTo('late@reader.example', 4);
    const reminders = mails.filter(({ subject }) => !subject.startsWith('Invoice')).reverse();
    expect(reminders.map(({ subject }) => subject)).toEqual([
      'Reminder: $50.00 to Nord GmbH is overdue',
      'Still overdue: $50.00 to Nord GmbH',
      'Last reminder: $50.00 to Nord GmbH is overdue',
    ]);
    expect(reminders[2].text).toContain('This is the last reminder');

    const { mails: logged } = await ok(
      story.client.get('/mails?external_customer_id=late&templates[]=invoice_overdue&statuses[]=sent'),
    );
    expect(logged).toHaveLength(3);
    const [, second] = logged;
    expect(second).toMatchObject({
      template: 'invoice_overdue',
      locale: 'en',
      external_customer_id: 'late',
      resource_type: 'PaymentRequest',
      to: ['late@reader.example'],
    });
    // The job of the second attempt runs again, twice at the same time.
    await Promise.all(
      [1, 2].map(() =>
        service.sql.begin(async (tx) => {
          const ctx = {
            organizationId: story.organizationId,
            sandbox: true,
            db: tx,
            config: service.config,
            now: () => Temporal.Instant.from(second.created_at),
            record: () => {},
            after: () => {},
          } as unknown as Context;
          await mailRequest(ctx, await getRequest(ctx, second.svc_resource_id as PaymentRequestId));
        }),
      ),
    );
    const again = await ok(story.client.get(`/mails?resource_id=${second.svc_resource_id}`));
    expect(again.mails).toHaveLength(1);
  });
});

test('a mail is shown as it is sent, with its files and without its links', async () => {
  await story.customer({ external_id: 'shown', email: 'shown@reader.example' });
  const invoice = await story.oneOff(700, 'shown');
  await mailsTo('shown@reader.example');
  const [row] = (await ok(story.client.get(`/mails?resource_id=${invoice.svc_id}`))).mails;
  const { mail } = await ok(story.client.get(`/mails/${row.svc_id}`));
  expect(mail).toMatchObject({
    ...row,
    attachments: [{ file_name: `${invoice.number}.pdf`, bytes: expect.any(Number) }],
  });
  expect(`${mail.text}${mail.html}`).not.toMatch(/customer-portal\/|[\uE000\uE001]/);
  expect((await story.client.post(`/mails/${row.svc_id}/retry`)).body).toMatchObject({
    status: 405,
    code: 'invalid_status',
  });
  expect((await story.client.get('/mails/nothing')).status).toBe(404);
  expect((await ok(story.client.get('/mails?resource_id=nothing'))).mails).toEqual([]);
  expect((await story.client.get('/mails?templates[]=bill')).status).toBe(422);
});

test('a mail that failed goes out again, with its document if that was not drawn', async () => {
  await story.customer({ external_id: 'again', email: 'again@reader.example' });
  const invoice = await story.oneOff(900, 'again');
  await mailsTo('again@reader.example');
  const [row] = (await ok(story.client.get(`/mails?resource_id=${invoice.svc_id}`))).mails;
  await service.sql`delete from sandbox_mails where id = ${row.svc_id}`;
  await service.sql`update documents set content = null, given_up_at = now() where subject_id = ${invoice.svc_id}`;
  await service.sql`update mails set status = 'failed', error = 'lost', sent_at = null where id = ${row.svc_id}`;
  expect((await ok(story.client.post(`/mails/${row.svc_id}/retry`))).mail).toMatchObject({
    status: 'waiting',
    error: null,
    attempts: 0,
  });
  const [mail] = await mailsTo('again@reader.example');
  expect(mail.attachments).toHaveLength(1);
  await service.sql`update mails set status = 'failed', body = '', html = null where id = ${row.svc_id}`;
  expect((await story.client.post(`/mails/${row.svc_id}/retry`)).status).toBe(405);
});
