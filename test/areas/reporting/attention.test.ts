import { afterAll, beforeAll, expect, test } from 'vitest';
import { ATTENTION_KINDS, SEVERITIES } from '../../../src/areas/reporting/attention/kinds.ts';
import { showAttention } from '../../../src/areas/reporting/attention/reads.ts';
import { countReads, readingAt } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// console-reads.md#attention.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-10T08:00:00Z');
  await story.customer();
});
afterAll(() => service.stop());

interface Row {
  kind: string;
  severity: string;
  count: number;
  more: boolean;
  since: string;
}
const attention = async (client: Pick<Story['client'], 'get'> = story.client): Promise<Row[]> =>
  (await client.get('/attention')).body.attention;
const find = async (kind: string) => (await attention()).find((row) => row.kind === kind);

test('kinds are listed from the most severe to the least', () => {
  const places = ATTENTION_KINDS.map(({ severity }) => SEVERITIES.indexOf(severity));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(new Set(ATTENTION_KINDS.map(({ kind }) => kind)).size).toBe(19);
});

test('an organization without an address hears of that alone', async () => {
  expect(await attention()).toEqual([
    {
      kind: 'billing_entity_incomplete',
      severity: 'info',
      count: 1,
      more: false,
      since: expect.stringMatching(/Z$/),
      path: '/billing_entities',
      query: '',
    },
  ]);
});

test('overdue invoices want attention since the oldest due date, until they are paid', async () => {
  const invoice = await story.oneOff(1000);
  await story.oneOff(2000);
  expect(await find('invoices_overdue')).toBeUndefined();
  await story.advanceTo('2024-05-12T08:00:00Z');
  expect(await find('invoices_overdue')).toMatchObject({
    severity: 'warning',
    count: 2,
    since: '2024-05-10T00:00:00Z',
    path: '/invoices',
    query: 'payment_overdue=true',
  });
  await story.pay(invoice.svc_id, 1000);
  expect(await find('invoices_overdue')).toMatchObject({ count: 1 });
});

test('events that match nothing are summed, and a count stops at a thousand', async () => {
  await story.client.post('/events', {
    event: { transaction_id: 'lost', external_subscription_id: 'nobody', code: 'nothing' },
  });
  expect(await until(() => find('unmatched_events'))).toMatchObject({ count: 1, more: false });
  await service.sql`
    update unmatched_totals set count = 70000 where organization_id = ${story.organizationId}`;
  expect(await find('unmatched_events')).toMatchObject({ count: 1000, more: true });
});

test('a failed payment wants attention for seven days while its invoice is due', async () => {
  const due = await story.oneOff(700);
  const paid = await story.oneOff(800);
  await story.pay(paid.svc_id, 800);
  await story.pay(due.svc_id, 100);
  await service.sql`
    update payments set payment_status = 'failed', status = 'failed' where organization_id = ${story.organizationId}`;
  expect(await find('payments_failed')).toMatchObject({ count: 1, query: 'payment_statuses[]=failed' });
  await story.advanceTo('2024-05-20T08:00:00Z');
  expect(await find('payments_failed')).toBeUndefined();
});

test('a failed invoice counts once: for its generation, or for another reason', async () => {
  const [one, two] = [await story.oneOff(900), await story.oneOff(901)];
  await service.sql`update invoices set status = 'failed' where id = any (${[one.svc_id, two.svc_id]}::uuid[])`;
  await service.sql`
    insert into invoice_error_details (id, organization_id, invoice_id, error_code, created_at)
    values (gen_random_uuid(), ${story.organizationId}, ${one.svc_id}, 'invoice_generation_error',
      '2024-05-12T08:00:00Z')`;
  expect(await find('invoice_generation_errors')).toMatchObject({ severity: 'critical', count: 1 });
  expect(await find('invoices_failed')).toMatchObject({ severity: 'warning', count: 1 });
});

test('a key hears only of what it may read, and a key that may read nothing of nothing (CO23)', async () => {
  const keyOf = async (permissions: object) => {
    const { body } = await story.client.post('/api_keys', { api_key: { permissions } });
    return service.client(body.api_key.value);
  };
  expect(await attention(await keyOf({ customer: ['read'] }))).toEqual([]);
  const kinds = (await attention(await keyOf({ invoice: ['read'] }))).map(({ kind }) => kind);
  expect(kinds).toEqual(['invoice_generation_errors', 'invoices_failed', 'invoices_overdue']);
});

test('nothing of another organization is counted', async () => {
  const stranger = await service.org();
  expect((await attention(stranger)).map(({ kind }) => kind)).toEqual(['billing_entity_incomplete']);
});

test('all kinds together are one statement', async () => {
  const { statements } = await countReads(service, (sql) =>
    showAttention({ ...readingAt(service, sql, story.organizationId, '2024-05-20T08:00:00Z'), holds: () => true }),
  );
  expect(statements).toHaveLength(1);
});
