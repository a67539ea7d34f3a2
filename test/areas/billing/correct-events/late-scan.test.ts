import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findLookFrom,
  listLateGroups,
  listLateOrganizations,
  readPage,
} from '../../../../src/areas/billing/settle-usage/late-groups.ts';
import { firstIdAt, newId, type OrganizationId } from '../../../../src/platform/ids.ts';
import { startService, type TestService } from '../../../support/service.ts';

// The hourly look at late events of an organization reads its own events of the hour, however many others send and it
// has itself:
// periodic-jobs.md#late-events, everywhere.md#bounded-cost.
let service: TestService;
let quiet: OrganizationId;

const OWN = 20;
const OTHERS = 3000;
/** Events of earlier hours. */
const HISTORY = { quiet: 500, busy: 30_000 };
/** How far a look goes back before the last one. */
const OVERLAP_MS = 600_000;

let busy: OrganizationId;

beforeAll(async () => {
  service = await startService();
  quiet = await organization();
  busy = await organization();
});
afterAll(() => service.stop());

const organization = async () => (await service.org()).organization.organization_id as OrganizationId;

const insertEvents = (organizationId: OrganizationId, count: number, idOf = newId) => service.sql`
  insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
    digest, created_at)
  select id, ${organizationId}, 'sub', id::text, 'units', now(), '{}', decode('00', 'hex'), now()
  from unnest(${Array.from({ length: count }, () => idOf())}::uuid[]) id`;

/** An id of an event that came two hours ago. */
const oldId = () => `${firstIdAt({ epochMilliseconds: Date.now() - 7_200_000 }).slice(0, 14)}${newId().slice(14)}`;

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];

/** Rows of the table of events that the look reads. */
async function eventsRead(seenId: string): Promise<number> {
  const epochMilliseconds = Number.parseInt(seenId.slice(0, 13).replace('-', ''), 16) - OVERLAP_MS;
  const stretch = { afterId: firstIdAt({ epochMilliseconds }), untilId: null };
  const look = listLateGroups({ db: service.sql, organizationId: quiet }, stretch, 5000);
  const [row] = await service.sql<{ 'QUERY PLAN': { Plan: Plan }[] }[]>`explain (analyze, format json) ${look}`;
  const scans = flat(row!['QUERY PLAN'][0]!.Plan).filter((node) => node['Relation Name'] === 'events');
  expect(scans).not.toEqual([]);
  return scans.reduce(
    (sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
    0,
  );
}

test('the look at late events of one organization reads no others, and none that were looked at', async () => {
  await insertEvents(quiet, HISTORY.quiet, oldId);
  await insertEvents(busy, HISTORY.busy, oldId);
  await insertEvents(quiet, OWN / 2);
  await insertEvents(busy, OTHERS);
  await insertEvents(quiet, OWN / 2);
  await service.sql`analyze events`;
  expect(await eventsRead(newId())).toBe(OWN);
  // What came since the statistics were made.
  const since = firstIdAt({ epochMilliseconds: Date.now() + OVERLAP_MS });
  await insertEvents(busy, OTHERS);
  await insertEvents(quiet, OWN);
  expect(await eventsRead(since)).toBe(OWN);
});

test('the look at late events of an invoice reads a page of its usage and goes on where it ended', async () => {
  const from = Temporal.Instant.from('2024-03-01T00:00:00Z');
  const usage = { external_subscription_id: 'paged', code: 'units', from, to: from.add({ hours: 10 }) };
  const id = await organization();
  const first = newId();
  // One event before the window, ten hours of 40 events with one timestamp each, and one at the window's end.
  await service.sql`
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      digest, created_at)
    select id, ${id}, 'paged', id::text, 'units', ${from}::timestamptz + floor(nth / 40.0) * interval '1 hour', '{}',
      decode('00', 'hex'), now()
    from unnest(${Array.from({ length: 402 }, () => newId())}::uuid[]) with ordinality as made (id, place)
    cross join lateral (select case place when 402 then -1 else place - 1 end as nth) placed`;
  const counts: number[] = [];
  const ids: string[] = [];
  for (let seen: string | null = null, n = 0; n < 10; n += 1) {
    const page = await readPage({ db: service.sql, organizationId: id }, usage, { seen, afterId: first, limit: 100 });
    if (page.events_count === 0) break;
    counts.push(page.events_count);
    ids.push(...page.ids);
    seen = page.until!.toString();
  }
  expect(counts).toEqual([120, 120, 120, 40]);
  expect(new Set(ids).size).toBe(400);
});

test('a policy that was switched off is looked at until the overlap after it is over', async () => {
  const id = await organization();
  const minutesAgo = (minutes: number) => firstIdAt({ epochMilliseconds: Date.now() - minutes * 60_000 });
  await service.sql`
    insert into late_event_policies (organization_id, plan_id, from_id, policy)
    values (${id}, null, ${minutesAgo(300)}, 'next_invoice'), (${id}, null, ${minutesAgo(100)}, 'ignore')`;
  const isDue = async (seenMinutesAgo: number) => {
    await service.sql`
      insert into late_event_cursors (organization_id, seen_id) values (${id}, ${minutesAgo(seenMinutesAgo)})
      on conflict (organization_id) do update set seen_id = excluded.seen_id`;
    const due = await listLateOrganizations(service.sql, 'real-time', { limit: 100 });
    return due.some(({ organization_id }) => organization_id === id);
  };
  // Seen before the policy ended, shortly after it, and once more.
  expect([await isDue(120), await isDue(95), await isDue(35)]).toEqual([true, true, false]);
});

test('a policy that is switched on again is looked at from then on, not since it was switched off', async () => {
  const id = await organization();
  const minutesAgo = (minutes: number) => firstIdAt({ epochMilliseconds: Date.now() - minutes * 60_000 });
  const [on, off, again] = [minutesAgo(300), minutesAgo(200), minutesAgo(20)];
  await service.sql`
    insert into late_event_policies (organization_id, plan_id, from_id, policy)
    values (${id}, null, ${on}, 'next_invoice'), (${id}, null, ${off}, 'ignore')`;
  const lookFrom = (seenId: string) => findLookFrom({ db: service.sql, organizationId: id }, seenId);
  const [early, overlapping, over, now] = [minutesAgo(250), minutesAgo(195), minutesAgo(185), minutesAgo(0)];
  expect(await Promise.all([early, overlapping, over].map(lookFrom))).toEqual([early, overlapping, undefined]);
  await service.sql`
    insert into late_event_policies (organization_id, plan_id, from_id, policy)
    values (${id}, null, ${again}, 'debit_invoice')`;
  expect(await Promise.all([overlapping, over, now].map(lookFrom))).toEqual([overlapping, again, now]);
});
