import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepGathered, takeGathered } from '../../../../src/areas/billing/settle-usage/gathered-late-events.ts';
import type { LateGroup } from '../../../../src/areas/billing/settle-usage/late-groups.ts';
import {
  type EventId,
  type ExternalSubscriptionId,
  type InvoiceId,
  newId,
  type OrganizationId,
} from '../../../../src/platform/ids.ts';
import { startService, type TestService } from '../../../support/service.ts';

// However a look is cut into stretches, and however it is taken out in pages, the groups that are settled are those of
// one look at all of it: event-corrections.md#late-events.
let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: [] });
});
afterAll(() => service.stop());

/** A late event: its subscription, the month of its window and its policy. */
interface Late {
  id: EventId;
  sub: string;
  month: number;
  policy: 'credit_note' | 'debit_invoice' | 'next_invoice';
}

const late = fc.record({
  sub: fc.constantFrom('a', 'B', 'ä'),
  month: fc.integer({ min: 1, max: 3 }),
  policy: fc.constantFrom('credit_note' as const, 'debit_invoice' as const, 'next_invoice' as const),
});

/** What a look at some events finds, in the order of their arrival. */
function groupsOf(events: readonly Late[]): LateGroup[] {
  const groups = new Map<string, LateGroup>();
  for (const { id, sub, month, policy } of events) {
    const key = `${month}/${sub}/${policy}`;
    const group = groups.get(key) ?? {
      external_subscription_id: sub as ExternalSubscriptionId,
      window_from: Temporal.Instant.from(`2024-0${month}-01T00:00:00Z`),
      policy,
      event_ids: [],
    };
    group.event_ids.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const shown = (groups: readonly LateGroup[]) =>
  groups.map((group) => ({ ...group, window_from: group.window_from.toString() }));
const sorted = (groups: readonly LateGroup[]) =>
  shown(groups).sort((one, other) => (one.event_ids[0]! < other.event_ids[0]! ? -1 : 1));
const windows = (groups: readonly LateGroup[]) => groups.map(({ window_from }) => window_from.toString());

/** Cut into runs of these lengths, over and over. */
function cut<Item>(items: readonly Item[], lengths: readonly number[]): Item[][] {
  const runs: Item[][] = [];
  for (let from = 0, n = 0; from < items.length; from += lengths[n % lengths.length]!, n += 1)
    runs.push(items.slice(from, from + lengths[n % lengths.length]!));
  return runs;
}

const look = () => ({ db: service.sql, organizationId: newId() as string as OrganizationId });

async function takeAll(scope: ReturnType<typeof look>, invoiceId: InvoiceId | null, limit: number) {
  const pages: LateGroup[][] = [];
  for (let n = 0; n < 200; n += 1) {
    const { groups, isLast } = await takeGathered(scope, invoiceId, limit);
    pages.push(groups);
    if (isLast) return pages;
  }
  throw new Error('the pages do not end');
}

test('any cut into stretches gives the groups of one look, each once and earliest window first', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(late, { maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 50 }),
      async (some, lengths, limit) => {
        const events = some.map((each) => ({ ...each, id: newId() as string as EventId }));
        const scope = look();
        // The second look at a stretch, after the first one was lost, adds nothing.
        for (const stretch of cut(events, lengths))
          for (let n = 0; n < 2; n += 1) await keepGathered(scope, null, groupsOf(stretch));
        const pages = await takeAll(scope, null, limit);
        const taken = pages.flat();
        expect(pages.every((page) => page.flatMap(({ event_ids }) => event_ids).length <= limit)).toBe(true);
        expect(windows(taken)).toEqual(windows(taken).sort());
        const whole = groupsOf(events);
        const parts = whole.flatMap((group) =>
          cut(group.event_ids, [limit]).map((event_ids) => ({ ...group, event_ids })),
        );
        expect(sorted(taken)).toEqual(sorted(parts));
      },
    ),
    { numRuns: 60 },
  );
});

test('policies of one window go in the order in which their first event came', async () => {
  const scope = look();
  const events = (['next_invoice', 'credit_note', 'debit_invoice', 'next_invoice'] as const).map((policy) => ({
    id: newId() as string as EventId,
    sub: 'a',
    month: 1,
    policy,
  }));
  for (const each of events) await keepGathered(scope, null, groupsOf([each]));
  const { groups, isLast } = await takeGathered(scope, null, 10);
  expect([isLast, shown(groups)]).toEqual([true, shown(groupsOf(events))]);
});

test('what a look for an invoice gathers is apart from what the hourly one does', async () => {
  const scope = look();
  const invoiceId = newId() as string as InvoiceId;
  const group = groupsOf([{ id: newId() as string as EventId, sub: 'a', month: 1, policy: 'next_invoice' }]);
  await keepGathered(scope, invoiceId, group);
  expect(await takeGathered(scope, null, 10)).toEqual({ groups: [], isLast: true });
  await keepGathered(scope, null, group);
  expect(shown((await takeGathered(scope, null, 10)).groups)).toEqual(shown(group));
  expect(shown((await takeGathered(scope, invoiceId, 10)).groups)).toEqual(shown(group));
  expect(await takeGathered({ ...look() }, invoiceId, 10)).toEqual({ groups: [], isLast: true });
});

test('a page reads its own rows of the gathered ones', async () => {
  const scope = look();
  const events = Array.from({ length: 3000 }, (_, n) => ({
    id: newId() as string as EventId,
    sub: `sub-${n}`,
    month: 1,
    policy: 'next_invoice' as const,
  }));
  await keepGathered(scope, null, groupsOf(events));
  const read = await service.sql.begin(async (tx) => {
    // A session counts on until it has reported.
    const soFar = async () => {
      const [row] = await tx<{ rows: number }[]>`
        select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
        from pg_stat_xact_user_tables where relname = 'gathered_late_events'`;
      return row!.rows;
    };
    const before = await soFar();
    await takeGathered({ ...scope, db: tx as unknown as typeof scope.db }, null, 100);
    return (await soFar()) - before;
  });
  expect(read).toBeGreaterThanOrEqual(100);
  // Once to find them and once to delete them.
  expect(read).toBeLessThanOrEqual(250);
});
