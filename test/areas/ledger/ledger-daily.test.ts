import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BalancesAt, rollUpTail } from '../../../src/areas/ledger/ledger/daily-sums.ts';
import { type Posting, post } from '../../../src/areas/ledger/ledger/postings.ts';
import { sumAccounts } from '../../../src/areas/ledger/ledger/queries.ts';
import { ledgerDaily } from '../../../src/areas/ledger/roll-up-ledger/ledger-daily.ts';
import { newId } from '../../../src/platform/ids.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// Balances from sums of days and the tail are those of the whole journal: ledger.md#storage.
let database: TestDatabase;
const organizationId = newId();
const entities: { id: string; zone: string }[] = [
  { id: newId(), zone: 'UTC' },
  { id: newId(), zone: 'Pacific/Kiritimati' },
  { id: newId(), zone: 'Etc/GMT+12' },
];

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  const now = Temporal.Instant.from('2024-01-01T00:00:00Z');
  await sql`insert into organizations ${sql(await likely('organizations', { id: organizationId, name: 'Acme' }, now))}`;
  for (const [index, { id, zone }] of entities.entries())
    await sql`insert into billing_entities ${sql(
      await likely('billing_entities', { id, organization_id: organizationId, code: `e${index}`, timezone: zone }, now),
    )}`;
});
afterAll(() => database.drop());

/** A row with something in every column that must have a value and has no default. */
async function likely(table: string, known: Record<string, unknown>, now: Temporal.Instant) {
  const columns = await database.sql<{ name: string; type: string }[]>`
    select column_name as name, data_type as type from information_schema.columns
    where table_name = ${table} and is_nullable = 'NO' and column_default is null`;
  const values = columns.map(({ name, type }) => [
    name,
    type.startsWith('timestamp') ? now : type === 'text' ? name : 0,
  ]);
  return { ...Object.fromEntries(values), ...known } as never;
}

/** Numbers from 0 to below 1, the same in every run. */
function dice(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const roll = dice(7);
const START = Temporal.Instant.from('2024-01-30T00:00:00Z');
const ACCOUNTS = ['receivable', 'cash', 'revenue.usage', 'tax_payable'] as const;
const anInstant = () => START.add({ minutes: roll(8 * 24 * 60) });

function aPosting(): Posting {
  const entity = entities[roll(entities.length)]!;
  const bookedAt = anInstant();
  const bookedOn = bookedAt.toZonedDateTimeISO(entity.zone).toPlainDate();
  const amountCents = 1 + roll(1000);
  return {
    rule: 'test',
    source: { type: 'Test', id: newId() },
    currency: ['EUR', 'USD'][roll(2)]!,
    billingEntityId: entity.id,
    bookedAt,
    bookedOn,
    documentDate: bookedOn.subtract({ days: roll(3) }),
    customerId: null,
    invoiceId: null,
    lines: [
      { account: ACCOUNTS[roll(4)]!, side: 'debit', amountCents },
      { account: ACCOUNTS[roll(4)]!, side: 'credit', amountCents },
    ],
  };
}

/** The same sums from all entries. */
async function summedUp(at: BalancesAt) {
  const { sql } = database;
  const isIn =
    'before' in at
      ? sql`booked.booked_at < ${at.before}`
      : at.basis === 'booked'
        ? sql`entry.booked_on <= ${at.day}`
        : sql`booked.document_date <= ${at.day}`;
  return sql`
    select entry.account_code, entry.currency, entity.code as billing_entity_code,
      coalesce(sum(entry.amount_cents) filter (where entry.side = 'debit'), 0)::bigint as debit_cents,
      coalesce(sum(entry.amount_cents) filter (where entry.side = 'credit'), 0)::bigint as credit_cents,
      max(entry.position) as last_position
    from ledger_entries entry
    join ledger_transactions booked on booked.id = entry.transaction_id
    join billing_entities entity on entity.id = entry.billing_entity_id
    where ${isIn}
    group by 1, 2, 3 order by 2, 1, 3`;
}

async function compare(at: BalancesAt): Promise<void> {
  const rows = await sumAccounts(
    { db: database.sql, organizationId },
    { currency: undefined, billing_entity_codes: undefined },
    at,
  );
  expect([...rows], JSON.stringify(at)).toEqual([...(await summedUp(at))]);
}

const day = () =>
  START.add({ hours: 24 * (roll(12) - 2) })
    .toZonedDateTimeISO('UTC')
    .toPlainDate();

test('daily sums of the ledger equal the sums over all entries at any instant and day, whatever was rolled up before', async () => {
  for (let round = 0; round < 25; round += 1) {
    for (let posting = 0; posting < 4; posting += 1) await post({ db: database.sql, organizationId }, aPosting());
    if (roll(2) === 0) await rollUpTail(database.sql, 1 + roll(9));
    await compare({ before: anInstant() });
    await compare({ before: START.add({ hours: 24 * roll(9) }) });
    await compare({ day: day(), basis: 'booked' });
    await compare({ day: day(), basis: 'document' });
  }
});

test('a ledger transaction that commits after later ones were rolled up is counted', async () => {
  const { sql } = database;
  await sql.begin(async (tx) => {
    await post({ db: tx, organizationId }, aPosting());
    await post({ db: sql, organizationId }, aPosting());
    await ledgerDaily.sweep({ sql } as SweepDeps, START);
  });
  await compare({ before: START.add({ hours: 24 * 20 }) });
  await Promise.all([1, 2, 3].map(() => ledgerDaily.sweep({ sql } as SweepDeps, START)));
  await compare({ before: START.add({ hours: 24 * 20 }) });
  const [left] = await sql`select count(*) as count from ledger_tail`;
  expect(left!.count).toBe(0);
});

test('several ledger roll-ups at the same time count each transaction once', async () => {
  const { sql } = database;
  for (let posting = 0; posting < 40; posting += 1) await post({ db: sql, organizationId }, aPosting());
  await Promise.all(Array.from({ length: 8 }, () => rollUpTail(sql, 5)));
  await compare({ before: START.add({ hours: 24 * 20 }) });
});
