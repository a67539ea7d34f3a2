import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CellsService, startCells, type Tenant } from '../support/cells.ts';
import { until } from '../support/until.ts';
import { ok, wordsOf } from '../support/words.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';

describe.skipIf(lacks('pg_basebackup'))('cells on two servers', () => {
  let first: OwnPostgres;
  let second: OwnPostgres;
  let service: CellsService;
  let a: Tenant;
  let b: Tenant;

  beforeAll(async () => {
    [first, second] = await Promise.all([startOwnPostgres(), startOwnPostgres()]);
    service = await startCells({ DATABASE_URL: first.url, CELL_DATABASE_URLS: `second=${second.url}` });
    await service.add({ name: 'a' });
    await service.add({ name: 'b', database: 'second' });
    [a, b] = [await service.org('a'), await service.org('b')];
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([first?.stop(), second?.stop()]);
  });

  /** Something to write events for. */
  async function sells(tenant: Tenant): Promise<void> {
    const words = wordsOf(tenant);
    await words.metric('calls');
    await words.plan({ amount_cents: 1000 });
    await words.customer();
    await ok(words.subscribe());
  }

  const event = (tenant: Tenant, transaction: string) =>
    tenant.post('/events', {
      event: { transaction_id: transaction, external_subscription_id: 'sub', code: 'calls', properties: {} },
    });

  test('a server that is stopped costs the other cell no error, and its own callers get 503 with its name (SC13)', async () => {
    await Promise.all([sells(a), sells(b)]);
    expect((await event(b, 'before')).status).toBe(200);
    let isOver = false;
    const statuses: number[] = [];
    const writing = (async () => {
      for (let sent = 0; !isOver; sent += 1) statuses.push((await event(a, `a${sent}`)).status);
    })();
    await until(() => statuses.length > 20);
    await second.server.end();
    const refused = await until(async () => {
      const answer = await b.get('/customers');
      return answer.body.code === 'cell_unavailable' ? answer : undefined;
    });
    expect([refused.status, refused.body]).toEqual([
      503,
      { status: 503, error: 'Service Unavailable', code: 'cell_unavailable', cell: 'b' },
    ]);
    expect((await event(b, 'meanwhile')).body).toMatchObject({ code: 'cell_unavailable', cell: 'b' });
    const ready = await fetch(`${service.url}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      {
        status: 'degraded',
        cells: [
          { name: 'a', reachable: true },
          { name: 'b', reachable: false },
        ],
      },
    ]);
    // Nobody can say whether a key that no cell has is one of b's.
    const stranger = await service.client('e0fe1bdc-1111-4222-8333-944455556666').get('/customers');
    expect(stranger.body).toMatchObject({ status: 503, code: 'cell_unavailable', cell: 'b' });
    const seen = statuses.length;
    await until(() => statuses.length > seen + 20);
    await second.restart();
    await until(async () => (await event(b, 'after')).status === 200);
    isOver = true;
    await writing;
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const stored = await (await service.sqlOf('a'))`select count(*)::int as events from events`;
    expect(stored[0]!.events).toBe(statuses.length);
  });
});
