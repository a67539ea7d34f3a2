import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditFull } from '../../../../src/areas/reporting/audit-books/jobs.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../../src/platform/queue/producer.ts';
import { reactions } from '../../../../src/reactions.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// The auditor's check of corrections: their documents are there and add up (event-corrections.md "invariants",
// auditor.md).
let service: TestService;
let producer: Producer;
let story: Story;
const corrections: Record<string, string> = {};

/**
 * A decrease credited on March's invoice, an increase on April's, and one of a charge in advance on an invoice of its
 * own.
 */
beforeAll(async () => {
  service = await startService();
  producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const charge = async (code: string, pay_in_advance: boolean) => {
    const metric = await story.metric(code, { aggregation_type: 'sum_agg', field_name: 'n' });
    const billable_metric_id = metric.svc_id;
    return { billable_metric_id, code, charge_model: 'standard', properties: { amount: '10' }, pay_in_advance };
  };
  await story.plan({ amount_cents: 0, charges: [await charge('later', false), await charge('now', true)] });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  for (const [transaction_id, code] of [
    ['a', 'later'],
    ['b', 'later'],
    ['c', 'now'],
  ])
    await story.client.post('/events', {
      event: { transaction_id, external_subscription_id: 'sub', code, properties: { n: '5' } },
    });
  await until(async () => {
    const { body } = await story.client.get('/fees?fee_type=charge');
    return body.fees.length === 1 ? true : undefined;
  });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const correct = async (name: string, fields: object) => {
    const { body } = await story.client.post('/events/corrections', {
      correction: { reason: name, external_subscription_id: 'sub', ...fields },
    });
    expect(body.correction).toMatchObject({ status: 'settled', invoices_count: 1 });
    corrections[name] = body.correction.svc_id;
  };
  await correct('credited', { kind: 'retract', transaction_id: 'a' });
  await correct('billed', { kind: 'amend', transaction_id: 'b', properties: { n: '7' } });
  const own = { policy: 'debit_invoice', properties: { n: '8' } };
  await correct('in advance', { kind: 'amend', transaction_id: 'c', ...own });
  await story.advanceTo('2024-05-02T00:00:00Z');
});
afterAll(async () => {
  await producer.close();
  await service.stop();
});

/** Findings of one run. */
async function found() {
  await service.sql`delete from audit_runs`;
  const log = createLog({ level: 'silent', process: 'test' });
  const { sql, redis, config } = service;
  await auditFull.sweep(
    { sql, redis, producer, config, reactions, log },
    Temporal.Instant.from('2024-05-02T00:00:00Z'),
  );
  const { body } = await story.client.get('/audits/findings?per_page=100&checks[]=A31');
  return body.audit_findings.map(({ svc_resource_id, expected, actual }: Record<string, unknown>) => [
    svc_resource_id,
    expected,
    actual,
  ]);
}

const byHand = (statement: string) =>
  service.sql.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica');
    await tx.unsafe(statement);
  });

const of = (name: string) => `where correction_id = '${corrections[name]}'`;

test.each<[string, string, () => string, () => string, string | null, string | null]>([
  [
    'a note that gives back another amount',
    'credited',
    () =>
      `update credit_note_items set amount_cents = 4900 where credit_note_id =
        (select credit_note_id from correction_adjustments ${of('credited')})`,
    () =>
      `update credit_note_items set amount_cents = 5000 where credit_note_id =
        (select credit_note_id from correction_adjustments ${of('credited')})`,
    '5000',
    '4900',
  ],
  [
    'a fee that bills another amount',
    'billed',
    () => `update fees set amount_cents = amount_cents + 1 ${of('billed')}`,
    () => `update fees set amount_cents = amount_cents - 1 ${of('billed')}`,
    '2000',
    '2001',
  ],
  [
    'an invoice that was never made',
    'in advance',
    () => `update correction_adjustments set credit_note_id = new_fee_id, new_fee_id = null ${of('in advance')}`,
    () => `update correction_adjustments set new_fee_id = credit_note_id, credit_note_id = null ${of('in advance')}`,
    'an invoice',
    null,
  ],
  [
    'a difference whose new amount is wrong',
    'in advance',
    () => `update correction_adjustments set new_amount_cents = new_amount_cents - 1 ${of('in advance')}`,
    () => `update correction_adjustments set new_amount_cents = new_amount_cents + 1 ${of('in advance')}`,
    '2999',
    '3000',
  ],
  [
    'a difference that is neither settled nor left',
    'billed',
    () => `update correction_adjustments set left_amount_cents = 100 ${of('billed')}`,
    () => `update correction_adjustments set left_amount_cents = 0 ${of('billed')}`,
    '2000',
    '2100',
  ],
  [
    'an invoice that was left out',
    'billed',
    () => `update correction_periods set settled_at = null ${of('billed')}`,
    () => `update correction_periods set settled_at = now() ${of('billed')}`,
    'settled',
    'open',
  ],
  [
    'a chain that was left out',
    'in advance',
    () => `update correction_chains set settled_at = null ${of('in advance')}`,
    () => `update correction_chains set settled_at = now() ${of('in advance')}`,
    'settled',
    'open',
  ],
])('the auditor’s check A31 names %s until it is corrected', async (_name, name, breakIt, mend, expected, actual) => {
  expect(await found()).toEqual([]);
  await byHand(breakIt());
  expect(await found()).toEqual([[corrections[name], expected, actual]]);
  await byHand(mend());
  expect(await found()).toEqual([]);
});
