import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reviveSteps } from '../../../src/jobs/after-steps/queries.ts';
import { nudgeLostSteps } from '../../../src/jobs/sweep-rows/lost-steps.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { nudge } from '../../../src/platform/records/nudge.ts';
import { emptyRecords, writeRecords } from '../../../src/platform/records/write-records.ts';
import { countReads } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { recordingProducer } from '../advance-clock/scratch.ts';

let service: TestService;
let client: Awaited<ReturnType<TestService['org']>>;
let organizationId: string;
let customerId: string;
let records: [payload: object, isOfCustomer: boolean][];

beforeAll(async () => {
  service = await startService({ settings: { DATABASE_POOL: '12' } });
  client = await service.org();
  organizationId = client.organization.organization_id;
  records = await makeRecords();
});
afterAll(() => service.stop());

async function make(path: string, body: object) {
  const { status, body: made } = await client.post(path, body);
  expect(status).toBe(200);
  return made;
}

/** Payloads as steps have them, and whether they name a record of the customer. */
async function makeRecords(): Promise<typeof records> {
  customerId = (await make('/customers', { customer: { external_id: 'ada', currency: 'EUR' } })).customer.svc_id;
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 100, amount_currency: 'EUR' };
  await make('/plans', { plan: { ...plan, pay_in_advance: true } });
  const { subscription } = await make('/subscriptions', {
    subscription: { external_customer_id: 'ada', plan_code: 'p', external_id: 'sub' },
  });
  const { wallet } = await make('/wallets', {
    wallet: { external_customer_id: 'ada', name: 'W', rate_amount: '1', currency: 'EUR', granted_credits: '10' },
  });
  const invoice = await until(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select id from invoices where organization_id = ${organizationId} and invoice_type = 'subscription'`;
    return row;
  });
  return [
    [{ customer_id: customerId }, true],
    [{ subscription_id: subscription.svc_id, event_ids: [] }, true],
    [{ lines: [{ subscription_id: subscription.svc_id, reason: 'subscription_terminating' }] }, true],
    [{ invoice_id: invoice.id }, true],
    [{ wallet_id: wallet.svc_id }, true],
    [{ external_subscription_id: 'sub', event_ids: [] }, true],
    [{ plan_id: randomUUID() }, false],
    [{ external_subscription_id: ['sub'] }, false],
    [{}, false],
  ];
}

async function write(sql: Sql, job: string, payloads: object[]) {
  const records = emptyRecords();
  records.owed.push(...payloads.map((payload) => ({ step: job, payload }) as never));
  const actor = { source: 'system' as const, apiKeyId: null };
  return writeRecords(sql, { organizationId, actor, now: realNow(), realNow: realNow() }, records);
}

interface Job {
  payload: unknown;
}
const keyOf = ({ payload }: Job) => (payload as { customer_key?: string }).customer_key;

test('the job of a step names the customer of the record in its payload, whoever nudges it', async () => {
  const payloads = records.map(([payload]) => payload);
  const wanted = records.map(([, isOfCustomer]) => (isOfCustomer ? customerId : undefined));

  const { statements, body: nudges } = await countReads(service, (sql) => write(sql, 'unheard-of', payloads));
  expect(statements).toHaveLength(1);
  const written = recordingProducer();
  await nudge(written, organizationId, nudges);
  expect(written.added.map(keyOf)).toEqual(wanted);

  const ids = nudges.steps.map(({ id }) => id);
  const swept = recordingProducer();
  await nudgeLostSteps({ sql: service.sql, producer: swept }, realNow().add({ seconds: 121 }));
  const sweptOf = new Map(swept.added.map((job) => [(job.payload as { step_id: string }).step_id, job]));
  expect(ids.map((id) => keyOf(sweptOf.get(id)!))).toEqual(wanted);

  await service.sql`update after_steps set failed_at = ${realNow()} where id = any (${ids}::uuid[])`;
  const revived = await reviveSteps(service.sql, { job: 'unheard-of' }, realNow());
  const customerOf = new Map(revived.map((step) => [step.id, step.customer_id ?? undefined]));
  expect(ids.map((id) => customerOf.get(id))).toEqual(wanted);
});

test('of many steps of a locked customer two wait for its row, and a step of another customer does not wait', async () => {
  const other = (await make('/customers', { customer: { external_id: 'bob', currency: 'EUR' } })).customer.svc_id;
  const holder = await service.sql.reserve();
  await holder`begin`;
  await holder`select from customers where organization_id = ${organizationId} and id = ${customerId} for update`;
  const payloads = Array.from({ length: 8 }, () => ({ customer_id: customerId }));
  await nudge(service.ingress.producer, organizationId, await write(service.sql, 'refresh-wallets', payloads));
  await until(async () => (await service.ingress.producer.queue('billing').getDelayedCount()) >= 6);
  await until(async () => {
    const [waiting] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and application_name = 'meterstone billing'`;
    return waiting!.count === 2;
  });
  const nudges = await write(service.sql, 'refresh-wallets', [{ customer_id: other }]);
  await nudge(service.ingress.producer, organizationId, nudges);
  const left = (ids: string[]) => service.sql`select from after_steps where id = any (${ids}::uuid[])`;
  await until(async () => (await left(nudges.steps.map(({ id }) => id))).length === 0);
  await holder`commit`;
  holder.release();
  await until(async () => {
    const steps = await service.sql`
      select from after_steps where organization_id = ${organizationId} and job = 'refresh-wallets'`;
    return steps.length === 0;
  });
});
