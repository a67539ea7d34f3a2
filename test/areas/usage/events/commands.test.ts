import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { storeInCommand } from '../../../../src/areas/usage/events/commands.ts';
import type { EventsForm } from '../../../../src/areas/usage/events/read-request.ts';
import type { Context, OwedStep } from '../../../../src/platform/context.ts';
import type { Tx } from '../../../../src/platform/db/connect.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import type { Answer } from '../../../../src/platform/operation.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming } from '../ingest-events/build.ts';

let database: TestDatabase;
let organizationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
});

/** Stores events of which those marked cannot be stored, though the door let them pass. */
async function store(form: EventsForm, events: { id: string; isBad?: boolean }[]) {
  const batch = incoming(
    organizationId,
    events.map(({ id }) => ({ transaction_id: id })),
    { atomic: form !== 'tolerant' },
  );
  for (const [index, { isBad }] of events.entries())
    if (isBad) batch.events[index]!.timestamp = '99999999-01-01T00:00:00Z';
  const steps: OwedStep[] = [];
  const run = async (tx: Tx) => {
    const context = {
      organizationId,
      sandbox: false,
      db: tx,
      log: createLog({ level: 'silent', process: 'test' }),
      now: () => Temporal.Instant.from('2024-03-10T12:00:00Z'),
      after: (step: OwedStep) => steps.push(step),
    } as unknown as Context;
    await tx.unsafe('savepoint command');
    return storeInCommand(context, { form, batch, faults: events.map(() => null) });
  };
  const answer = (await database.sql.begin(run)) as Answer;
  return { ...JSON.parse(answer.json!), steps };
}

const stored = async () =>
  (
    await database.sql<{ transaction_id: string }[]>`
      select transaction_id from events where organization_id = ${organizationId} order by 1`
  ).map((row) => row.transaction_id);

const REFUSED = { base: ['invalid_format'] };

test('an event with a value that cannot be stored is refused', async () => {
  await expect(store('single', [{ id: 'a', isBad: true }])).rejects.toMatchObject({
    status: 422,
    body: { error_details: REFUSED },
  });
  await expect(store('batch', [{ id: 'a' }, { id: 'b', isBad: true }])).rejects.toMatchObject({
    status: 422,
    body: { error_details: { 1: REFUSED } },
  });
  expect(await stored()).toEqual([]);
});

test('a tolerant batch is stored without the event that cannot be stored', async () => {
  const { results, steps }: { results: { status: string; error_details: object }[]; steps: OwedStep[] } = await store(
    'tolerant',
    [{ id: 'a' }, { id: 'b', isBad: true }, { id: 'c' }],
  );
  expect(results.map(({ status }) => status)).toEqual(['stored', 'rejected', 'stored']);
  expect(results[1]!.error_details).toEqual(REFUSED);
  expect(await stored()).toEqual(['a', 'c']);
  expect(steps.map(({ step }) => step)).toEqual(['finish-event-batch', 'finish-event-batch']);
});
