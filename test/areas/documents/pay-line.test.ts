import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPayToken } from '../../../src/areas/messaging/mails/pay-link.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// The link to where an invoice is paid, in its PDF: pay-links.md#in-documents.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.customer({ email: 'a@acme.test' });
});
afterAll(() => service.stop());

/** Addresses that the PDF of an invoice opens, each once: a link has an area for each word. */
async function addressesIn({ svc_id }: Invoice): Promise<string[]> {
  const bytes = await until(async () => {
    const { invoice } = (await story.client.post(`/invoices/${svc_id}/download`)).body ?? {};
    if (!invoice?.file_url) return undefined;
    const answer = await request(invoice.file_url.replace(/^https?:\/\/[^/]+/, service.url));
    const content = Buffer.from(await answer.body.arrayBuffer());
    return answer.statusCode === 200 ? content : undefined;
  });
  expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
  const areas = [...bytes.toString('latin1').matchAll(/\/URI \(([^)]*)\)/g)];
  return [...new Set(areas.map(([, address]) => address!))];
}

/** Status and text of the page behind a link. */
async function visit(address: string, method: 'GET' | 'POST' = 'GET') {
  const answer = await request(`${service.url}${new URL(address).pathname}`, { method });
  return { status: answer.statusCode, text: await answer.body.text() };
}

test('the PDF of an invoice that owes something opens its pay page, which follows what becomes of the invoice', async () => {
  const invoice = await story.oneOff(1000);
  const [address, ...others] = await addressesIn(invoice);
  expect(others).toEqual([]);
  const token = /\/pay\/([\w-]{48})$/.exec(address!)![1]!;
  const deployment = { db: service.sql, config: service.config };
  expect(await readPayToken(deployment, token)).toEqual({ type: 'Invoice', id: invoice.svc_id, isExpired: false });
  expect((await visit(address!)).text).toContain('$10.00 due');
  await story.pay(invoice.svc_id, 1000);
  expect((await visit(address!)).text).toContain('Paid, thank you');
  expect((await visit(address!, 'POST')).text).toContain('Paid, thank you');
  expect(await addressesIn(invoice)).toEqual([address]);
});

test('the PDF of an invoice that is paid or self-billed when it is drawn has no link', async () => {
  const [paid, selfBilled] = [await story.oneOff(1000), await story.oneOff(1200)];
  await story.pay(paid.svc_id, 1000);
  await service.sql`update invoices set self_billed = true where id = ${selfBilled.svc_id}`;
  const drawn = await service.sql`
    select from documents where subject_id = any (${[paid, selfBilled].map(({ svc_id }) => svc_id)}::uuid[])`;
  expect(drawn).toHaveLength(0);
  for (const each of [paid, selfBilled]) expect(await addressesIn(each)).toEqual([]);
});

test('the link of a customer who was deleted still pays what is owed, as the API does', async () => {
  const { client } = story;
  await ok(
    client.post('/payment_providers', {
      payment_provider: { type: 'sandbox', code: 'box', name: 'Box', emulates: 'stripe' },
    }),
  );
  const linked = { payment_provider: 'stripe', payment_provider_code: 'box', sync_with_provider: true };
  await story.customer({ external_id: 'leaving', email: 'a@b.test', billing_configuration: linked });
  const invoice = await story.oneOff(900, 'leaving');
  const [address] = await addressesIn(invoice);
  await ok(client.delete('/customers/leaving'));
  const seen = await visit(address!);
  expect(seen.status).toBe(200);
  expect(seen.text).toContain('$9.00 due');
  expect((await visit(address!, 'POST')).status).toBe(200);
  expect(await service.sql`select from payment_pages where payable_id = ${invoice.svc_id}`).toHaveLength(1);
  await story.pay(invoice.svc_id, 900);
  expect((await visit(address!)).text).toContain('Paid, thank you');
});
