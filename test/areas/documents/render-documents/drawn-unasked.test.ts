import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweepDocuments } from '../../../../src/areas/documents/render-documents/jobs.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { createProducer, type Producer } from '../../../../src/platform/queue/producer.ts';
import { queues } from '../../../../src/queues.ts';
import { removeAllKeys } from '../../../support/redis-keys.ts';
import { startService, type TestService, UNSCHEDULED } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from '../e-documents/seller-story.ts';

// Pages that are drawn before anybody asks: e-documents.md#pages-before-anybody-asks.
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

describe('pages of final documents', () => {
  let service: TestService;
  let seller: SellerStory;
  beforeAll(async () => {
    service = await startService({ settings: { DRAW_UNASKED: 'true' } });
    seller = await openSeller(service, '2026-03-01T10:00:00Z');
  });
  afterAll(() => service.stop());

  const pagesOf = (id: string) => service.sql<{ is_asked: boolean; is_drawn: boolean }[]>`
    select is_asked, content is not null as is_drawn from documents where subject_id = ${id}`;
  const generated = (type: string, id: string) => service.sql`
    select from webhook_events where webhook_type = ${type} and object_id = ${id}`;

  test('are there though nobody asked: of an invoice, of its note and of its receipt, once each', async () => {
    await seller.buyer('all');
    const made = await seller.hours('all');
    const path = `/invoices/${made.svc_id}`;
    const read = async (): Promise<Loose> => (await ok(seller.client.get(path))).invoice;
    const drawn = await until(async () => ((await read()).file_url === null ? undefined : read()));
    expect((await seller.fileAt(drawn.file_url)).bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect(await generated('invoice.generated', made.svc_id)).toHaveLength(1);

    const items = [{ fee_id: made.fees[0].svc_id, amount_cents: 1000 }];
    const { credit_note: note } = await ok(
      seller.client.post('/credit_notes', {
        credit_note: { invoice_id: made.svc_id, credit_amount_cents: 1190, items },
      }),
    );
    await until(async () => (await ok(seller.client.get(`/credit_notes/${note.svc_id}`))).credit_note.file_url);
    expect(await generated('credit_note.generated', note.svc_id)).toHaveLength(1);

    const payment = { invoice_id: made.svc_id, amount_cents: 500, reference: 'cash' };
    await ok(seller.client.post('/payments', { payment }));
    const receipt = await until(async () => {
      const { payment_receipts } = await ok(seller.client.get(`/payment_receipts?invoice_id=${made.svc_id}`));
      return payment_receipts[0]?.file_url && payment_receipts[0];
    });
    for (const id of [made.svc_id, note.svc_id, receipt.svc_id])
      expect(await pagesOf(id)).toEqual([{ is_asked: false, is_drawn: true }]);

    // Who asks gets the page that is there.
    const before = (await seller.fileAt(drawn.file_url)).bytes;
    const { invoice: again } = await ok(seller.client.post(`${path}/download`));
    expect((await seller.fileAt(again.file_url)).bytes.equals(before)).toBe(true);
    expect(await generated('invoice.generated', made.svc_id)).toHaveLength(1);
  });

  test('are not drawn of a draft, but as soon as it is final', async () => {
    await seller.buyer('draft', { billing_configuration: { invoice_grace_period: 3 } });
    await seller.plan({ code: 'yearly', amount_cents: 12_000, amount_currency: 'EUR', pay_in_advance: true });
    await seller.subscribe({ external_id: 'draft', external_customer_id: 'draft', plan_code: 'yearly' });
    const draft = await until(
      async () => (await ok(seller.client.get('/invoices?external_customer_id=draft&status=draft'))).invoices[0],
    );
    expect(await pagesOf(draft.svc_id)).toEqual([]);
    await ok(seller.client.put(`/invoices/${draft.svc_id}/finalize`));
    await until(async () => (await pagesOf(draft.svc_id))[0]?.is_drawn);
  });

  test('of a customer with a hybrid profile are the archived file itself', async () => {
    await seller.buyer('hybrid', { e_document_profile: 'facturx' });
    const made = await seller.hours('hybrid');
    const archived = await seller.document('hybrid', 'ready');
    const drawn = await until(async () => {
      const { invoice } = await ok(seller.client.get(`/invoices/${made.svc_id}`));
      return invoice.file_url === null ? undefined : invoice;
    });
    const [page, kept] = [await seller.fileAt(drawn.file_url), await seller.fileAt(archived.file_url)];
    expect(page.bytes.equals(kept.bytes)).toBe(true);
    expect(await pagesOf(made.svc_id)).toMatchObject([{ is_drawn: true }]);
  });
});

describe('pages that wait', () => {
  let service: TestService;
  let seller: SellerStory;
  let producer: Producer;
  beforeAll(async () => {
    // No pool draws here, so that the tests see what waits.
    const pools = UNSCHEDULED.filter((name) => name !== 'documents');
    service = await startService({ pools, settings: { DRAW_UNASKED: 'true' } });
    seller = await openSeller(service, '2026-03-01T10:00:00Z');
    producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  });
  afterAll(async () => {
    await producer.close();
    await service.stop();
  });

  const documentOf = async (made: Loose): Promise<Loose> =>
    (await service.sql`select id, is_asked from documents where subject_id = ${made.svc_id}`)[0];
  /** Ids of documents in the order in which their jobs would run, once so many wait. */
  const waiting = (count: number) =>
    until(async () => {
      const all = await producer.queue('documents').getJobs(['wait', 'prioritized'], 0, -1, true);
      const jobs = all.filter(({ data }) => data.document_id);
      return jobs.length >= count ? jobs : undefined;
    });
  const order = async (count: number) => {
    const jobs = (await waiting(count)).map(({ data, opts }) => ({ id: data.document_id, rank: opts.priority ?? 0 }));
    return jobs.toSorted((a, b) => a.rank - b.rank).map(({ id }) => id);
  };

  test('stand behind one that somebody asks for, which waits no longer', async () => {
    await seller.buyer('many');
    const [first, second] = [await seller.hours('many'), await seller.hours('many')];
    const [one, two] = [await documentOf(first), await documentOf(second)];
    expect([one.is_asked, two.is_asked]).toEqual([false, false]);
    const jobs = await waiting(2);
    expect(jobs.every(({ opts }) => opts.priority! > 0)).toBe(true);
    await ok(seller.client.post(`/invoices/${second.svc_id}/download`));
    expect((await order(3))[0]).toBe(two.id);
    expect(await documentOf(second)).toMatchObject({ is_asked: true });
    // Asked for once more it is in the queue already.
    await ok(seller.client.post(`/invoices/${second.svc_id}/download`));
    expect(await order(3)).toHaveLength(3);
    expect(queues.documents.mostOfOrganization).toBe(0.5);
  });

  test('are found again where Redis has lost their jobs, asked ones first, and do not pile up', async () => {
    await removeAllKeys(service.redis, service.config.REDIS_PREFIX);
    await seller.buyer('lost');
    const made = await seller.hours('lost');
    await waiting(1);
    const { id } = await documentOf(made);
    const open = (await service.sql`select id, is_asked from documents where content is null`) as unknown as Loose[];
    await removeAllKeys(service.redis, service.config.REDIS_PREFIX);
    for (const minutes of [60, 120]) {
      const at = realNow().add({ minutes });
      await sweepDocuments({ sql: service.sql, producer }, at, at);
    }
    const found = await order(open.length);
    expect(new Set(found)).toEqual(new Set(open.map((each) => each.id)));
    const asked = open.find(({ is_asked }) => is_asked).id;
    expect(found.slice(0, 2)).toEqual([asked, asked]);
    expect(found.filter((each) => each === id)).toHaveLength(1);
  });
});

test('an operator may have pages drawn when they are asked for first', async () => {
  const service = await startService({ settings: { DRAW_UNASKED: 'false' } });
  const seller = await openSeller(service, '2026-03-01T10:00:00Z');
  await seller.buyer('later');
  const made = await seller.hours('later');
  await ok(
    seller.client.post('/payments', { payment: { invoice_id: made.svc_id, amount_cents: 500, reference: 'x' } }),
  );
  // A receipt is drawn in any case.
  await until(async () => {
    const { payment_receipts } = await ok(seller.client.get(`/payment_receipts?invoice_id=${made.svc_id}`));
    return payment_receipts[0]?.file_url;
  });
  expect(await service.sql`select from documents where subject_id = ${made.svc_id}`).toHaveLength(0);
  const { invoice } = await ok(seller.client.post(`/invoices/${made.svc_id}/download`));
  expect((await seller.fileAt(invoice.file_url)).type).toBe('application/pdf');
  await service.stop();
});
