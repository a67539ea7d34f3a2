import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lockSubscriptions } from '../../../src/areas/subscriptions/subscriptions/writes.ts';
import { realNowMs } from '../../../src/platform/clock/real-clock.ts';
import { takePreviewTables } from '../../../src/platform/db/preview-tables.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// everywhere.md#bounded-cost: a preview is a read. It locks nothing before it computes, and nobody waits for it.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService({ settings: { WRITE_TIMEOUT_SECONDS: '10' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2024-03-15T08:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
});

const previewNext = () =>
  story.client.post('/invoices/preview', {
    customer: { external_id: 'acme' },
    subscriptions: { external_ids: ['sub'] },
  });

test('a preview does not wait while its customer is billed, and many previews together answer the same', async () => {
  const quiet = await previewNext();
  expect(quiet.status, quiet.text).toBe(200);
  const meanwhile = await service.sql.begin(async (tx) => {
    await tx`select from customers where organization_id = ${story.organizationId} for no key update`;
    const [subscription] = await tx`select id from subscriptions where organization_id = ${story.organizationId}`;
    await lockSubscriptions({ db: tx, organizationId: story.organizationId }, [subscription!.id]);
    await tx`select from billing_entities where organization_id = ${story.organizationId} for no key update`;
    return Promise.all(Array.from({ length: 8 }, previewNext));
  });
  const essence = ({ status, body }: typeof quiet) => [status, body.invoice?.total_amount_cents, body.invoice?.number];
  expect(meanwhile.map(essence)).toEqual(meanwhile.map(() => essence(quiet)));
});

test('while other previews of the organization have all seats a preview waits in its queue, and is answered then', async () => {
  const queue = service.ingress.producer.queue('previews');
  let asked: ReturnType<typeof previewNext> | undefined;
  await service.sql.begin(async (first) => {
    await takePreviewTables({ db: first, organizationId: story.organizationId });
    await service.sql.begin(async (second) => {
      await takePreviewTables({ db: second, organizationId: story.organizationId });
      asked = previewNext();
      await until(async () => (await queue.getDelayedCount()) === 1);
    });
  });
  const { status, text } = await asked!;
  expect(status, text).toBe(200);
});

test('a preview is not a command: it keeps no idempotency key, takes no number and has one row in the API log', async () => {
  const count = async (table: string, condition = 'true') => {
    const [row] = await service.sql.unsafe(
      `select count(*) from ${table} where organization_id = '${story.organizationId}' and ${condition}`,
    );
    return row!.count as number;
  };
  const keys = await count('idempotency_keys');
  const sequences = await count('customer_invoice_sequences');
  expect((await previewNext()).status).toBe(200);
  expect((await story.client.post('/invoices/preview', { customer: {}, plan_code: 'unknown' })).status).toBe(404);
  expect(await count('idempotency_keys')).toBe(keys);
  expect(await count('customer_invoice_sequences')).toBe(sequences);
  await until(async () => (await count('api_logs', `request_path like '%/invoices/preview'`)) === 2);
});

test('a row that is being written does not block a preview that would change it', async () => {
  const changed = () =>
    story.client.post('/invoices/preview', {
      customer: { external_id: 'acme', name: 'Another' },
      subscriptions: { external_ids: ['sub'], terminated_at: '2024-03-20T00:00:00Z' },
    });
  const answer = await service.sql.begin(async (tx) => {
    for (const table of ['customers', 'subscriptions', 'plans', 'billing_entities'])
      await tx`update ${tx(table)} set updated_at = updated_at where organization_id = ${story.organizationId}`;
    await tx`select from organizations where id = ${story.organizationId} for update`;
    return changed();
  });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.invoice.customer.name).toBe('Another');
});

test('a preview whose caller no longer waits is not run', async () => {
  const asked = (at: number) => {
    const cid = newId();
    const payload = {
      v: 1,
      from: 'nobody',
      cid,
      at,
      operation: 'invoicePreview',
      organization_id: story.organizationId,
      sandbox: true,
      api_key_id: newId(),
      request_id: cid,
      input: { body: { customer: { external_id: 'acme' }, subscriptions: { external_ids: ['sub'] } } },
      idempotency: null,
      request: { method: 'post', origin: 'test', path: '/invoices/preview', client: null, parameters: null },
    } as const;
    return service.ingress.producer.add('preview.run', payload, { id: cid }).then(() => cid);
  };
  // A preview that ran publishes its answer, whether or not there is somebody to read it.
  const subscriber = service.redis.duplicate();
  const answered: string[] = [];
  await subscriber.subscribe(`${service.config.REDIS_PREFIX}:reply:nobody`);
  subscriber.on('message', (_channel, text) => answered.push(JSON.parse(text)[0]));
  await asked(realNowMs() - 11_000);
  const queue = service.ingress.producer.queue('previews');
  await until(async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) === 0);
  const waitedFor = await asked(realNowMs());
  await until(() => answered.length > 0);
  expect(answered).toEqual([waitedFor]);
  subscriber.disconnect();
});
