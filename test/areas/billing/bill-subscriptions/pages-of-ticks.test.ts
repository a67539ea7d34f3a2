import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expireGates } from '../../../../src/areas/billing/activate-subscriptions/expire-gates.ts';
import { activate } from '../../../../src/areas/billing/bill-subscriptions/start-pending.ts';
import { terminateEnded } from '../../../../src/areas/billing/bill-subscriptions/terminate-ended.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import type { Place, Reach } from '../../../../src/platform/periodic-job.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../../support/explain-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { ok, wordsOf } from '../../../support/words.ts';

// What one page of a tick reads where very many subscriptions start, end or give up waiting at the same midnight.
const ROWS = { largest: 4_000, unknown: 1_000 };
const LIMIT = 100;
/** A page asks about five things for each of its rows, each some five blocks deep. */
const MOST_BLOCKS = LIMIT * 25;
const AT = Temporal.Instant.from('2024-05-01T00:30:00Z');
const TABLES = ['subscriptions', 'subscription_activation_rules', 'customers', 'organizations', 'test_clocks'];
const JOBS = { activate, terminateEnded, expireGates };

let service: TestService;
let known: OrganizationId;
let unknown: OrganizationId;
beforeAll(async () => {
  service = await startService();
  for (const name of TABLES) await service.sql.unsafe(`alter table ${name} set (autovacuum_enabled = false)`);
  known = await loaded(ROWS.largest);
  await service.sql`analyze`;
  unknown = await loaded(ROWS.unknown);
}, 120_000);
afterAll(() => service.stop());

/** An organization with so many subscriptions of each kind, all due since the same instant. */
async function loaded(rows: number): Promise<OrganizationId> {
  const client = await service.org();
  const { plan, customer } = wordsOf(client);
  await plan({ amount_cents: 1000 });
  await customer({ external_id: 'acme' });
  const subscription = { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan' };
  await ok(client.post('/subscriptions', { subscription }));
  const id = client.organization.organization_id as OrganizationId;
  const copies = (name: string, values: string) =>
    service.sql.unsafe(`
      insert into subscriptions
      select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'external_id', '${name}' || n,
        'next_billing_at', null, ${values}))).*
      from subscriptions one cross join generate_series(1, ${rows}) n
      where one.organization_id = '${id}' and one.external_id = 'sub'`);
  const midnight = `'2024-05-01T00:00:00Z'`;
  await copies('pending', `'status', 'pending', 'started_at', null, 'subscription_at', ${midnight}`);
  await copies('ending', `'ending_at', ${midnight}`);
  await copies('gated', `'status', 'incomplete', 'started_at', null`);
  await service.sql`
    insert into subscription_activation_rules (id, organization_id, subscription_id, rule_type, timeout_hours, status,
      expires_at, created_at, updated_at)
    select gen_random_uuid(), organization_id, id, 'payment', 1, 'pending', '2024-05-01T00:00:00Z', created_at,
      created_at
    from subscriptions where organization_id = ${id} and status = 'incomplete'`;
  return id;
}

/** What all pages of a selection have found, and the statements that read them. */
async function selectedBy(name: keyof typeof JOBS, reach: Reach): Promise<{ found: string[]; sent: Sent[] }> {
  const sent: Sent[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 1,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const found: string[] = [];
  let after: Place | null | undefined;
  while (after !== null) {
    const page = await JOBS[name].select(sql, AT, reach, { limit: LIMIT, ...(after ? { after } : {}) });
    found.push(...page.items.map(({ resource }) => resource!.id));
    after = page.next;
  }
  await sql.end();
  return { found, sent };
}

test.each(Object.keys(JOBS) as (keyof typeof JOBS)[])(
  'a page of %s reads what it hands out',
  async (name) => {
    for (const [organizationId, rows] of [
      [known, ROWS.largest],
      [unknown, ROWS.unknown],
    ] as const) {
      const { found, sent } = await selectedBy(name, { organizationId });
      expect(new Set(found).size).toBe(rows);
      expect(found).toHaveLength(rows);
      // The first page, and one from the middle.
      const selections = sent.filter(({ text }) => text.includes('place'));
      for (const each of [selections[0]!, selections[Math.floor(selections.length / 2)]!]) {
        for (const mode of PLAN_MODES) {
          const { scans, blocks } = await explainStatement(service.sql, each, { mode, tables: TABLES });
          expect(blocks, `${mode}: ${scans.join(', ')}`).toBeLessThan(MOST_BLOCKS);
        }
      }
    }
    const { sent } = await selectedBy(name, 'real-time');
    for (const mode of PLAN_MODES) {
      const { scans, blocks } = await explainStatement(service.sql, sent[0]!, { mode, tables: TABLES });
      expect(blocks, `real time, ${mode}: ${scans.join(', ')}`).toBeLessThan(MOST_BLOCKS);
    }
  },
  120_000,
);
