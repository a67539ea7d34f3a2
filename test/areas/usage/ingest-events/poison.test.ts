import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { lockOrganizationEvents } from '../../../../src/areas/catalog/usage-shapes/shape-locks.ts';
import { startService, type TestService } from '../../../support/service.ts';

/** A shared statement waits so long for locks. Half of the neighbour's later events take less, on any machine. */
const LOCK_WAIT_MS = 1000;
/** Events of the neighbour, one after the other: the first ones may meet the poison, the last ones do not. */
const EVENTS = 40;
const PAUSE_MS = 40;
/**
 * Requests of the poison at least, however fast the neighbour's are answered: three large batches, two of them alike.
 */
const LEAST_REQUESTS = 21;

type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let poisonous: Org;
let neighbour: Org;
beforeAll(async () => {
  service = await startService({ settings: { DATABASE_POOL: '12' } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  [poisonous, neighbour] = [await service.org(), await service.org()];
  await poisonous.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'sum_agg', field_name: 'n' },
  });
});

let isOver: boolean;
let sending: Promise<unknown>[] = [];
beforeEach(() => {
  isOver = false;
});
afterEach(async () => {
  isOver = true;
  await Promise.all(sending);
  sending = [];
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const event = (id: string, properties: object = {}) => ({
  event: { transaction_id: id, external_subscription_id: 's', code: 'calls', properties },
});

/** Sends request after request, with a pause between, until the neighbour is done; the statuses of the answers. */
function keepSending(client: Org, body: (index: number) => [path: string, body: object]): number[] {
  const answers: number[] = [];
  const loop = async () => {
    const requests: Promise<unknown>[] = [];
    for (let index = 0; !isOver || index < LEAST_REQUESTS; index += 1) {
      requests.push(client.post(...body(index)).then(({ status }) => answers.push(status)));
      await pause(PAUSE_MS);
    }
    await Promise.all(requests);
  };
  sending.push(loop());
  return answers;
}

const single =
  (prefix: string) =>
  (index: number): [string, object] => ['/events', event(`${prefix}-${index}`)];

/** The neighbour's events while the other organization sends poison: all stored, and soon not late at all. */
async function expectUnharmed(): Promise<void> {
  const tookMs: number[] = [];
  for (let index = 0; index < EVENTS; index += 1) {
    const started = performance.now();
    expect((await neighbour.post(...single('n')(index))).status).toBe(200);
    tookMs.push(performance.now() - started);
  }
  const later = tookMs.slice(-EVENTS / 2).sort((a, b) => a - b);
  expect(later[later.length / 2]).toBeLessThan(LOCK_WAIT_MS);
  isOver = true;
}

test('an organization whose events are locked delays no other, and its own are stored once the lock is gone', async () => {
  const holder = await service.sql.reserve();
  await holder`begin`;
  await lockOrganizationEvents({ db: holder as never, organizationId: poisonous.organization.organization_id });
  const locked = keepSending(poisonous, single('p'));
  await expectUnharmed();
  expect(locked).toEqual([]);
  await holder`commit`;
  holder.release();
  await Promise.all(sending);
  expect(locked.length).toBeGreaterThan(0);
  expect(new Set(locked)).toEqual(new Set([200]));
  const [stored] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from events where organization_id = ${poisonous.organization.organization_id}`;
  expect(stored!.count).toBe(locked.length);
});

test('events under a transaction id that is taken but not committed delay no other organization', async () => {
  const id = poisonous.organization.organization_id;
  expect((await poisonous.post('/events', event('taken'))).status).toBe(200);
  const holder = await service.sql.reserve();
  await holder`begin`;
  await holder`delete from events where organization_id = ${id} and transaction_id = 'taken'`;
  const blocked = poisonous.post('/events', event('taken'));
  sending.push(blocked);
  await expectUnharmed();
  await holder`rollback`;
  holder.release();
  expect((await blocked).status).toBe(200);
});

test('batches of the largest size and conflicts in them do not crowd out other organizations', async () => {
  const large = (index: number): [string, object] => [
    '/events/batch',
    {
      events: Array.from({ length: 100 }, (_, n) => ({
        ...event(`l-${index % 2}-${n}`, { text: 'x'.repeat(9000), index }).event,
      })),
    },
  ];
  const answers = keepSending(poisonous, (index) => (index % 10 === 0 ? large(index) : single('c')(index % 3)));
  await expectUnharmed();
  await Promise.all(sending);
  expect(new Set(answers)).toEqual(new Set([200, 422]));
});
