import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { play, type Scenario } from '../../src/commands/scenario/play-step.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { type CellsService, startCells } from '../support/cells.ts';
import { UNSCHEDULED } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';

// Rule: cells.md#requests. Each cell has a login of its own, and so has the directory.
const CELLS = ['east', 'west'] as const;
const PASSWORD = 'of-a-cell';
/** The published stories, or those of a folder that SCENARIOS names. */
const folder = process.env.SCENARIOS ?? join(projectRoot(), 'scenarios');
const stories = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Scenario | Scenario[]);

describe.skipIf(lacks('pg_basebackup', 'pgbouncer'))('two cells behind PgBouncer in transaction mode', () => {
  let server: OwnPostgres;
  let pooler: Pooler;
  let service: CellsService;

  const urlOf = (role: string) => Object.assign(new URL(server.url), { username: role, password: PASSWORD }).href;

  beforeAll(async () => {
    server = await startOwnPostgres();
    // In a schema that every login may use: the first cell would put them into its own.
    for (const name of ['pg_trgm', 'btree_gin']) await server.admin.unsafe(`create extension ${name} schema public`);
    for (const role of CELLS) {
      await server.admin.unsafe(`create role ${role} login password '${PASSWORD}'`);
      await server.admin.unsafe(`grant create on database meterstone to ${role}`);
    }
    pooler = await startPgBouncer({ urls: [server.url, ...CELLS.map(urlOf)] });
    service = await startCells(
      {
        DATABASE_URL: pooler.before(server.url),
        DATABASE_PREPARE: 'false',
        CELL_DATABASE_URLS: CELLS.map((name) => `${name}=${pooler.before(urlOf(name))}`).join(' '),
      },
      UNSCHEDULED,
    );
    for (const name of CELLS) await service.add({ name, database: name });
  });
  afterAll(async () => {
    await service?.stop();
    await pooler?.stop();
    await server?.stop();
  });

  /** Plays the published stories in a sandbox of a cell; what went wrong, by story. */
  const playIn = async (cell: string) => {
    const wrong: string[] = [];
    for (const story of stories) {
      const { api_key: apiKey } = await service.org(cell, { sandbox: true });
      const found = await play(story, {
        baseUrl: `${service.url}/api/v1`,
        apiKey,
        wirePrefix: 'svc',
        withinSeconds: 60,
      });
      if (found !== null) wrong.push(`${story.name}: ${found}`);
    }
    return wrong;
  };

  test('both play the published stories at once, each with its login, schema and path', async () => {
    expect(await Promise.all(CELLS.map(playIn))).toEqual([[], []]);
    for (const cell of CELLS) {
      const sql = await service.sqlOf(cell);
      const [row] = await sql<{ role: string; schema: string; invoices: number }[]>`
        select current_user as role, current_schema() as schema, (select count(*)::int from invoices) as invoices`;
      expect(row).toMatchObject({ role: cell, schema: `cell_${cell}` });
      expect(row!.invoices).toBeGreaterThan(0);
      const other = CELLS.find((name) => name !== cell)!;
      await expect(sql.unsafe(`select from cell_${other}.invoices`)).rejects.toThrow(/permission denied/);
    }
  });

  test('a cell whose login is taken away answers 503 with its name, and the other one plays on', async () => {
    const west = await service.org('west');
    expect((await west.get('/customers')).status).toBe(200);
    await server.admin.unsafe('alter role west nologin');
    try {
      await server.admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'west'`;
      const playing = playIn('east');
      const refused = await until(async () => {
        const answer = await west.get('/customers');
        return answer.body.code === 'cell_unavailable' ? answer : undefined;
      });
      expect(refused.body).toMatchObject({ status: 503, cell: 'west' });
      expect(await playing).toEqual([]);
    } finally {
      await server.admin.unsafe('alter role west login');
    }
    await until(async () => (await west.get('/customers')).status === 200, 30_000);
    expect(await playIn('west')).toEqual([]);
  });
});
