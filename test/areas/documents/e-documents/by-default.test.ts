import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyArchive } from '../../../../src/areas/documents/archive/verify-archive.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { projectRoot } from '../../../../src/platform/project-root.ts';
import { startService, type TestService } from '../../../support/service.ts';
import type { Invoice } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from './seller-story.ts';

// The XML that `download_xml` makes where nobody chose a profile: docs/rules/e-documents.md "by default".
let service: TestService;
let seller: SellerStory;

beforeAll(async () => {
  service = await startService();
  seller = await openSeller(service, '2026-03-01T10:00:00Z');
});
afterAll(() => service.stop());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const downloaded = async (invoice: Invoice): Promise<{ url: string; bytes: Buffer }> => {
  const { xml_url: url } = (await ok(seller.client.post(`/invoices/${invoice.svc_id}/download_xml`))).invoice;
  return { url, bytes: (await seller.fileAt(url)).bytes };
};
const named = (invoice: Invoice, profile = 'en16931_ubl') =>
  seller.client.post(`/invoices/${invoice.svc_id}/e_documents`, { e_document: { profile } });
const webhooks = async (id: string) =>
  (
    await service.sql<{ webhook_type: string }[]>`
      select webhook_type from webhook_events where object_id = ${id} order by position`
  ).map(({ webhook_type }) => webhook_type);
const rulesOf = (problems: { rule: string }[]) => problems.map(({ rule }) => rule);

/** The documents of March as one file, whose contents are not compressed. */
const exported = async (): Promise<Buffer> => {
  const api_key = { name: 'reader', permissions: { e_document: ['read'] } };
  const { value } = (await ok(seller.client.post('/api_keys', { api_key }))).api_key;
  const answer = await fetch(`${service.url}/api/v1/e_documents/export?from=2026-03-01&to=2026-03-31`, {
    headers: { Authorization: `Bearer ${value}` },
  });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
};

/** An invoice that bears no tax, of a seller who says nowhere why. */
const untaxed = (customer: string) =>
  seller.hours(customer, 2, { fees: [{ add_on_code: 'hour', units: 2, tax_codes: ['none'] }] });

describe('where the rules find nothing', () => {
  test('it is the document in the profile en16931_ubl, byte for byte, and stands in the archive', async () => {
    await seller.buyer('whole');
    const invoice = await seller.hours('whole');
    const { url, bytes } = await downloaded(invoice);
    const document = await seller.document('whole', 'ready');
    expect(document).toMatchObject({
      ...{ subject_type: 'Invoice', svc_subject_id: invoice.svc_id, kind: 'document', number: invoice.number },
      ...{ profile: 'en16931_ubl', problems: [], sha256: sha256(bytes), size: bytes.length },
      retain_until: '2036-12-31',
    });
    expect(new URL(document.file_url).pathname).toBe(new URL(url).pathname);
    // Its electronic addresses and terms are those of a chosen document.
    for (const part of ['<cbc:EndpointID schemeID="9930">DE123456789<', '<cac:PaymentTerms>'])
      expect(bytes.toString()).toContain(part);
    expect((await ok(named(invoice))).e_document.svc_id).toBe(document.svc_id);
    expect((await downloaded(invoice)).bytes.equals(bytes)).toBe(true);
    const zip = await exported();
    for (const part of [bytes, `"${invoice.number}","en16931_ubl","${sha256(bytes)}"`])
      expect(zip.includes(part)).toBe(true);
    expect(await verifyArchive({ db: service.sql, organizationId: seller.organizationId as OrganizationId })).toEqual(
      expect.objectContaining({ documents: 1, faults: [] }),
    );
  });

  test('it is announced with its invoice alone, once', async () => {
    const [document] = await seller.documents('external_customer_id=whole');
    const types = await until(async () => {
      const found = await webhooks(document!.svc_subject_id);
      return found.includes('invoice.generated') ? found : undefined;
    });
    expect(types.filter((type) => type === 'invoice.generated')).toHaveLength(1);
    expect(await webhooks(document!.svc_id)).toEqual([]);
    const { invoice } = await ok(seller.client.get(`/invoices/${document!.svc_subject_id}`));
    expect(new URL(invoice.xml_url).pathname).toBe(new URL(document!.file_url).pathname);
  });

  test('a document of which the profile was named is what download_xml answers, and the address of the invoice', async () => {
    await seller.buyer('named');
    const invoice = await seller.hours('named');
    const { e_document } = await ok(named(invoice));
    const { url } = await downloaded(invoice);
    expect(new URL(url).pathname).toBe(new URL(e_document.file_url).pathname);
    const { invoice: shown } = await ok(seller.client.get(`/invoices/${invoice.svc_id}`));
    expect(new URL(shown.xml_url).pathname).toBe(new URL(url).pathname);
    expect(await webhooks(e_document.svc_id)).toEqual(['e_document.created']);
    expect(await seller.documents('external_customer_id=named')).toHaveLength(1);
  });
});

describe('where the rules find something', () => {
  let invoice: Invoice;
  let document: Invoice;

  beforeAll(async () => {
    await ok(seller.client.post('/taxes', { tax: { name: 'None', code: 'none', rate: '0', vat_category: 'E' } }));
    await seller.buyer('odd');
    invoice = await untaxed('odd');
  });

  test('it states what it always did, and its problems are kept with it', async () => {
    const { bytes } = await downloaded(invoice);
    document = await seller.document('odd', 'ready');
    expect(rulesOf(document.problems)).toEqual(['BR-E-10']);
    expect(document.sha256).toBe(sha256(bytes));
    expect(bytes.toString()).toContain('<cbc:ID>Z</cbc:ID>');
    expect(bytes.toString()).not.toContain('cbc:EndpointID');
    expect(await webhooks(document.svc_id)).toEqual([]);
  });

  test('who names the profile is refused with them, and nobody sends it', async () => {
    for (const answer of [await named(invoice), await seller.client.post(`/e_documents/${document.svc_id}/send`)]) {
      expect(answer).toMatchObject({ status: 422, body: { error_details: { base: ['e_document_not_available'] } } });
      expect(rulesOf(answer.body.error_details.problems)).toEqual(['BR-E-10']);
    }
  });

  test('it stays as it is when the fact is there, and another profile gets the fact', async () => {
    const { taxes } = await ok(seller.client.get('/taxes'));
    const tax = taxes.find(({ code }: { code: string }) => code === 'none');
    await ok(seller.client.put(`/taxes/${tax.code}`, { tax: { exemption_text: 'Article 132' } }));
    expect((await downloaded(invoice)).bytes.toString()).not.toContain('Article 132');
    const { e_document } = await ok(named(invoice, 'en16931_cii'));
    expect((await seller.fileAt(e_document.file_url)).bytes.toString()).toContain('Article 132');
  });
});

test('a void cancels it, and says so', async () => {
  await seller.buyer('void');
  const invoice = await seller.hours('void');
  await downloaded(invoice);
  await ok(seller.client.post(`/invoices/${invoice.svc_id}/void`));
  const cancellation = await until(async () => {
    const rows = await seller.documents('external_customer_id=void&statuses[]=ready');
    return rows.find(({ kind }) => kind === 'cancellation');
  });
  expect(cancellation).toMatchObject({ number: `${invoice.number}-V`, profile: 'en16931_ubl', problems: [] });
  expect(await webhooks(cancellation.svc_id)).toEqual(['e_document.created']);
});

test('an XML from before comes into the archive as it is, behind the same link', async () => {
  await seller.buyer('former');
  const [ready, pending] = [await seller.hours('former'), await seller.hours('former')];
  const { organizationId } = seller;
  const content = Buffer.from('<Invoice/>');
  const { sql } = service;
  const store = (invoice: Invoice, bytes: Buffer | null) => sql<{ id: string }[]>`
    insert into documents (id, organization_id, kind, subject_id, file_name, content_type, content, requested_at,
      enqueued_at)
    values (gen_random_uuid(), ${organizationId}, 'invoice_xml', ${invoice.svc_id}, ${`${invoice.number}.xml`},
      'application/xml', ${bytes}, clock_timestamp(), clock_timestamp())
    returning id`;
  const [[former], [waiting]] = [await store(ready, content), await store(pending, null)];
  const migration = await readFile(join(projectRoot(), 'migrations', '0092_archive_plain_documents.sql'), 'utf8');
  await sql.unsafe(migration.slice(migration.indexOf('insert into e_documents')));

  const documents = await seller.documents('external_customer_id=former');
  expect(documents.find(({ svc_id }) => svc_id === former!.id)).toMatchObject({
    ...{ status: 'ready', kind: 'document', profile: 'en16931_ubl', number: ready.number },
    ...{ sha256: sha256(content), size: content.length, retain_until: '2036-12-31' },
    problems: [{ rule: 'stated_before_archive', severity: 'warning', resource: 'invoice' }],
  });
  expect(documents.find(({ svc_id }) => svc_id === waiting!.id)).toMatchObject({ status: 'pending', problems: [] });
  expect((await downloaded(ready)).bytes.equals(content)).toBe(true);
  const { url, bytes } = await downloaded(pending);
  expect([new URL(url).pathname, bytes.includes(pending.number)]).toEqual([`/documents/${waiting!.id}`, true]);
  expect(await sql`select from documents where kind = 'invoice_xml'`).toHaveLength(0);
  expect(await verifyArchive({ db: sql, organizationId: organizationId as OrganizationId })).toMatchObject({
    faults: [],
  });
});
