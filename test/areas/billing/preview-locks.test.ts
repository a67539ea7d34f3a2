import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { flowCommands } from '../../../src/flow-commands.ts';
import { previewHandlers } from '../../../src/jobs/run-command/preview-jobs.ts';
import type { CommandReply } from '../../../src/jobs/run-command/run-command.ts';
import { operations } from '../../../src/operations.ts';
import { realNowMs } from '../../../src/platform/clock/real-clock.ts';
import type { Context } from '../../../src/platform/context.ts';
import type { Sql, Tx } from '../../../src/platform/db/connect.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { reactions } from '../../../src/reactions.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// everywhere.md#bounded-cost: nobody waits for a preview, and it waits for nobody.
let service: TestService;
let story: Story;
let walletId: string;
let invoiceId: string;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// A customer with everything that an invoice takes from: a coupon of several periods, a note, a wallet.
beforeEach(async () => {
  story = await openStory(service, '2024-03-15T08:00:00Z');
  const { client } = story;
  await made(client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } }));
  const { body } = await made(
    client.post('/billable_metrics', {
      billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' },
    }),
  );
  const charges = [
    { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard', properties: { amount: '10' } },
  ];
  await story.customer();
  await story.plan({ amount_cents: 31_000, charges });
  await story.plan({ code: 'larger', amount_cents: 62_000 });
  await story.subscribe();
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  invoiceId = invoice.svc_id;
  const items = [{ fee_id: invoice.fees[0].svc_id, amount_cents: 1000 }];
  await made(
    client.post('/credit_notes', {
      credit_note: { invoice_id: invoiceId, reason: 'other', credit_amount_cents: 1200, items },
    }),
  );
  const coupon = { name: 'C', code: 'c', coupon_type: 'fixed_amount', amount_cents: 500, amount_currency: 'USD' };
  const terms = { frequency: 'recurring', frequency_duration: 3, expiration: 'no_expiration' };
  await made(client.post('/coupons', { coupon: { ...coupon, ...terms } }));
  await made(client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'c' } }));
  const wallet = { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '20' };
  walletId = (await made(client.post('/wallets', { wallet }))).body.wallet.svc_id;
  await until(async () => (await client.get(`/wallets/${walletId}`)).body.wallet.balance_cents === 2000);
  await made(call('1'));
  await rest();
}, 60_000);

async function made(answer: ReturnType<Story['client']['post']>) {
  const { status, text, body } = await answer;
  expect(status, text).toBe(200);
  return { body };
}

const call = (id: string) =>
  story.client.post('/events', { event: { transaction_id: id, external_subscription_id: 'sub', code: 'calls' } });

/** Waits until nothing is owed. */
const rest = () =>
  until(async () => {
    const [row] = await service.sql`
      select (select count(*) from after_steps) + (select count(*) from event_batches)
        + (select count(*) from analytics_marks) as count`;
    return row!.count === 0;
  });

/** Runs a preview here, `atStart` when its view of the data is taken, `atEnd` before it takes back what it wrote. */
async function asked(
  operation: 'invoicePreview' | 'previewAdjustedFee',
  input: object,
  { atStart, atEnd }: { atStart?: () => Promise<void>; atEnd?: (tx: Tx) => Promise<void> } = {},
) {
  let reply: CommandReply | undefined;
  const gated = (ctx: Context, given: object) => {
    const savepoint = async (work: (tx: Tx) => Promise<unknown>) => {
      await atStart?.();
      return (ctx.db as Tx).savepoint(async (tx) => {
        try {
          return await work(tx as Tx);
        } finally {
          await atEnd?.(tx as Tx);
        }
      });
    };
    const db = new Proxy(ctx.db, {
      get: (target, name) => (name === 'savepoint' ? savepoint : Reflect.get(target, name)),
    });
    return flowCommands[operation]!({ ...ctx, db }, given);
  };
  const publish = async (_channel: string, text: string) => {
    reply = JSON.parse(text)[1] as CommandReply;
    return 1;
  };
  const run = previewHandlers({
    sql: service.sql,
    config: service.config,
    reactions,
    log: createLog({ level: 'silent', process: 'test' }),
    producer: service.ingress.producer,
    operations: new Map(operations.map((each) => [each.name, each])),
    flows: { [operation]: gated },
    redis: { publish } as unknown as Redis,
  })['preview.run'];
  const job = {
    v: 1 as const,
    from: 'test',
    cid: newId(),
    at: realNowMs(),
    operation,
    organization_id: story.organizationId,
    sandbox: true,
    api_key_id: newId(),
    request_id: newId(),
    input,
    idempotency: null,
    request: { method: 'post', origin: 'test', path: '/invoices/preview', client: null, parameters: null },
  };
  const comeBack = () => Promise.reject(new Error('a preview is run once'));
  await run(job, { id: job.cid, attempt: 1, lastAttempt: true, addedAtMs: job.at, comeBack });
  const body = JSON.parse(reply!.body);
  return { status: reply!.status, body, essence: essenceOf(body) };
}

const essenceOf = ({ invoice, fee }: Record<string, Record<string, unknown>>) =>
  invoice === undefined
    ? fee?.amount_cents
    : [
        invoice.fees_amount_cents,
        invoice.coupons_amount_cents,
        invoice.credit_notes_amount_cents,
        invoice.prepaid_credit_amount_cents,
        invoice.prepaid_granted_credit_amount_cents,
        invoice.total_amount_cents,
      ];

const acme = { customer: { external_id: 'acme' } };
const ofSub = (terms: object = {}) => ({ ...acme, subscriptions: { external_ids: ['sub'], ...terms } });
const larger = { plan_code: 'larger', billing_time: 'calendar' };
const madeUp = { code: 'made-up', coupon_type: 'fixed_amount', amount_cents: 100, amount_currency: 'USD' };

// Fees, coupons, notes, wallets (granted credits), total.
const KINDS: [string, object, (number | null)[]][] = [
  ['the next period', ofSub(), [32_000, 500, 1200, 2000, 2000, 34_600]],
  ['a termination', ofSub({ terminated_at: '2024-04-10T12:00:00Z' }), [11_333, 500, 1200, 2000, 2000, 9800]],
  ['a change of plan', ofSub({ plan_code: 'larger' }), [2033, 500, 1200, 640, 640, 0]],
  ['a new subscription', { ...acme, ...larger }, [59_933, 500, 1200, 2000, 2000, 68_120]],
  [
    'attributes',
    { ...ofSub(), customer: { external_id: 'acme', name: 'Another' } },
    [32_000, 500, 1200, 2000, 2000, 34_600],
  ],
  ['one made up', { customer: { name: 'New' }, ...larger, coupons: [madeUp] }, [59_933, 100, 0, 0, null, 71_800]],
];

test.each(KINDS)(
  'a preview of %s locks no row that others see, writes nothing to the catalog and leaves no row behind',
  async (_kind, body, expected) => {
    const rows = await rowCounts();
    const newest = await newestOfCatalog(service.sql);
    let held: unknown;
    const { status, essence } = await asked(
      'invoicePreview',
      { body },
      {
        atEnd: async (tx) => {
          const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
          held = await heldBy(own!.pid);
          expect(await newestOfCatalog(tx)).toBe(newest);
        },
      },
    );
    expect([status, held]).toEqual([200, { rows: [], locks: [] }]);
    expect(essence).toEqual(expected);
    expect(await rowCounts()).toEqual(rows);
  },
);

/** Newest transaction of the catalog's rows, as a transaction sees them that is under way. */
const newestOfCatalog = async (db: Sql | Tx) => {
  const [row] = await db<{ newest: number }[]>`
    select max(xmin::text::bigint) as newest
    from (select xmin from pg_class union all select xmin from pg_attribute union all select xmin from pg_depend) rows`;
  return row!.newest;
};

/** Rows of all tables that a transaction under way has changed or locked, and its locks that others may wait for. */
async function heldBy(pid: number) {
  const names = await tables();
  const counts = await Promise.all(
    names.map(async (name) => {
      const [row] = await service.sql<{ count: number }[]>`
        select count(*) from ${service.sql(name)}
        where xmax <> '0' and pg_xact_status(xmax::text::xid8) = 'in progress'`;
      return { name, count: row!.count };
    }),
  );
  const locks = await service.sql`
    select locktype, mode, relation::regclass::text as relation from pg_locks
    where pid = ${pid} and (locktype = 'advisory' and not ${isSeat()} or locktype = 'tuple'
      or (locktype = 'relation' and mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
        and relation in (select oid from pg_class where relnamespace = 'public'::regnamespace)))`;
  return { rows: counts.filter(({ count }) => count > 0), locks: [...locks] };
}

/** The lock that keeps other previews of the organization, and nobody else, from the tables of this one. */
const isSeat = () => service.sql`(classid::bigint << 32 | objid::bigint) in (
  select hashtextextended(${story.organizationId} || ' ' || seat, 5311) from generate_series(1, 2) seat)`;

const tables = async () =>
  (
    await service.sql<{ name: string }[]>`
      select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by 1`
  ).map(({ name }) => name);

const rowCounts = async () =>
  Object.fromEntries(
    await Promise.all(
      (await tables()).map(async (name) => {
        const [row] = await service.sql<{ count: number }[]>`select count(*) from ${service.sql(name)}`;
        return [name, row!.count];
      }),
    ),
  );

/** Writes to everything that a preview of the customer touches. */
function writes(): Promise<{ status: number; text: string }>[] {
  const { client } = story;
  return [
    client.post('/customers', { customer: { external_id: 'acme', name: 'Renamed' } }),
    client.put('/subscriptions/sub', { subscription: { name: 'Renamed' } }),
    client.post('/wallet_transactions', { wallet_transaction: { wallet_id: walletId, granted_credits: '5' } }),
    client.put('/plans/plan', { plan: { amount_cents: 99_000 } }),
    client.put('/coupons/c', { coupon: { name: 'Renamed' } }),
    client.post('/coupons', { coupon: { ...madeUp, name: 'M', frequency: 'once', expiration: 'no_expiration' } }),
    client.post('/customers', { customer: { external_id: newId() } }),
    client.put('/organizations', { organization: { net_payment_term: 7 } }),
    client.post(`/invoices/${invoiceId}/void`),
    client.delete('/taxes/vat'),
    call('2'),
  ];
}

/** Attributes that give a customer of a seller in the EU another tax, or a question to the VAT register. */
const ATTRIBUTES: [string, object][] = [
  ['a number that the register knows', { country: 'DE', tax_identification_number: 'DE136695976' }],
  ['no number', { country: 'AT', tax_identification_number: '' }],
  ['a country outside', { country: 'US', tax_identification_number: null }],
];

test.each(ATTRIBUTES)(
  'a preview of a customer under EU taxes with %s locks no row that others see',
  async (_kind, fields) => {
    const { client } = story;
    const [entity] = (await client.get('/billing_entities')).body.billing_entities;
    await made(
      client.put(`/billing_entities/${entity.code}`, { billing_entity: { country: 'FR', eu_tax_management: true } }),
    );
    await made(
      client.post('/customers', {
        customer: { external_id: 'acme', country: 'FR', tax_identification_number: 'FR40303265045' },
      }),
    );
    await openDraft();
    // A deleted tax is made again where it is needed.
    await made(client.delete('/taxes/svc_eu_at_standard'));
    await rest();
    const rows = await rowCounts();
    let held: unknown;
    const { status } = await asked(
      'invoicePreview',
      { body: { ...ofSub(), customer: { external_id: 'acme', ...fields } } },
      {
        atEnd: async (tx) => {
          const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
          held = await heldBy(own!.pid);
        },
      },
    );
    expect([status, held]).toEqual([200, { rows: [], locks: [] }]);
    expect(await rowCounts()).toEqual(rows);
  },
);

test.each(KINDS)('all writes go through while a preview of %s runs', async (_kind, body) => {
  let answers: { status: number; text: string }[] = [];
  const { status } = await asked(
    'invoicePreview',
    { body },
    {
      atEnd: async () => {
        answers = await Promise.race([
          Promise.all(writes()),
          new Promise<never[]>((_, late) => setTimeout(late, 20_000)),
        ]);
        answers.push(await story.client.delete('/subscriptions/sub'));
      },
    },
  );
  expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(answers.map(() => 200));
  expect(status).toBe(200);
});

/** The invoice of April, a draft for ten days. */
async function openDraft() {
  await story.customer({ billing_configuration: { invoice_grace_period: 10 } });
  await story.advanceTo('2024-05-01T02:00:00Z');
  const drafts = (await story.invoices(2)).filter(({ status }) => status === 'draft');
  expect(drafts).toHaveLength(1);
  await rest();
  return drafts[0];
}

/** What is asked about the fee of the plan, or of the calls; and the amount that it then has. */
const ADJUSTED: [string, string, object, number][] = [
  ['units of a plan', 'plan', { units: '2' }, 62_000],
  ['units of usage', 'calls', { units: '7' }, 7000],
  ['a price', 'calls', { units: '7', unit_precise_amount: '1.5' }, 1050],
  ['a name', 'calls', { invoice_display_name: 'Agreed' }, 1000],
];

test.each(ADJUSTED)(
  'a preview of a fee adjusted by %s locks nothing, and all writes go through beside it',
  async (_kind, code, fields, expected) => {
    const { svc_id, fees } = await openDraft();
    const fee_id = fees.find(({ item }: { item: { code: string } }) => item.code === code).svc_id;
    const input = { svc_id, body: { fee_id, ...fields } };
    const rows = await rowCounts();
    const newest = await newestOfCatalog(service.sql);
    let held: unknown;
    const quiet = await asked('previewAdjustedFee', input, {
      atEnd: async (tx) => {
        const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        held = await heldBy(own!.pid);
        expect(await newestOfCatalog(tx)).toBe(newest);
      },
    });
    expect([quiet.status, held]).toEqual([200, { rows: [], locks: [] }]);
    expect(quiet.essence).toBe(expected);
    expect(await rowCounts()).toEqual(rows);

    const answers: string[] = [];
    const { client } = story;
    const beside = async () => {
      for (const write of [
        () => client.post(`/invoices/${svc_id}/adjusted_fees`, { adjusted_fee: { fee_id, units: '3' } }),
        () => client.put(`/invoices/${svc_id}/refresh`),
        () => client.delete('/subscriptions/sub'),
        () => client.put(`/invoices/${svc_id}/finalize`),
      ]) {
        const { status, text } = await write();
        answers.push(status === 200 ? 'ok' : text);
      }
    };
    const busy = await asked('previewAdjustedFee', input, {
      atEnd: () => Promise.race([beside(), new Promise<void>((late) => setTimeout(late, 20_000))]),
    });
    expect(answers).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(withoutIds(busy)).toEqual(withoutIds(quiet));
  },
);

/** Taxes of an imagined fee have new ids each time. */
const withoutIds = (answer: object) =>
  JSON.parse(JSON.stringify(answer), (key, value) => (key.endsWith('id') ? undefined : value));

test('a preview sees one instant: later writes do not change its result', async () => {
  const quiet = await asked('invoicePreview', { body: ofSub() });
  const busy = await asked(
    'invoicePreview',
    { body: ofSub() },
    {
      atStart: async () => {
        const answers = await Promise.all(writes());
        expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(answers.map(() => 200));
      },
    },
  );
  expect(busy.essence).toEqual(quiet.essence);
  const later = await asked('invoicePreview', { body: ofSub() });
  expect(later.essence).not.toEqual(quiet.essence);
});
