import { randomUUID } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { endProcess } from '../../src/platform/services/processes.ts';
import { type RunningCluster, startCluster } from '../scale/support/redis-cluster.ts';
import { dropTemplate, keepTemplate, placeOfTemplate, takeTemplate } from './kept-template.ts';
import { newFolder } from './new-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Server with the migrated database TEMPLATE_DATABASE, which test files clone. */
    postgresUrl: string;
    redisUrl: string;
    /** One for all files of a run. */
    runId: string;
  }
}

export const TEMPLATE_DATABASE = 'meterstone_template';

/** The databases of three files, up to 1 GB of write-ahead log, and the load of the heaviest file. */
const ENOUGH_BYTES = 4 * 1024 ** 3;
const END_WITHIN_MS = 60_000;

/**
 * Brings servers of the test run's own and stops them at its end, whatever else runs on the machine. With
 * `TEST_REDIS=cluster` the run has a Redis Cluster of three masters in place of one Redis.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster: RunningCluster | undefined = process.env.TEST_REDIS === 'cluster' ? await startCluster() : undefined;
  const redisUrl = cluster?.url;
  const place = await placeOfTemplate();
  const services = (await bringWithTemplate(place, redisUrl)) ?? (await bringAndMigrate(place, redisUrl));
  project.provide('postgresUrl', services.databaseUrl);
  project.provide('redisUrl', services.redisUrl);
  project.provide('runId', randomUUID());
  return async () => {
    await services.stop();
    await cluster?.stop();
  };
}

/** Servers on a copy of the kept template; undefined when there is none, or none that today's Postgres can run on. */
async function bringWithTemplate(place: string, redisUrl?: string): Promise<Services | undefined> {
  const dataDir = await newFolder('tests', ENOUGH_BYTES);
  if (!(await takeTemplate(place, dataDir))) return undefined;
  try {
    return await bringServices({ throwaway: 'prepared', dataDir, redisUrl });
  } catch {
    await dropTemplate(place);
    return undefined;
  }
}

async function bringAndMigrate(place: string, redisUrl?: string): Promise<Services> {
  const dataDir = await newFolder('tests', ENOUGH_BYTES);
  const services = await bringServices({ throwaway: true, dataDir, redisUrl });
  const admin = connectDatabase(services.databaseUrl, { connections: 1 });
  const url = new URL(services.databaseUrl);
  await easePassword(admin, url);
  await admin.unsafe(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  url.pathname = `/${TEMPLATE_DATABASE}`;
  const template = connectDatabase(url.href, { connections: 2 });
  await migrate(template);
  await template.unsafe(`vacuum (full) ${(await listCatalog(template)).join(', ')}`);
  await template.end();
  // Only data of a server that has ended by itself is whole.
  if (await endProcess(services.pids.postgres!, [{ signal: 'SIGINT', waitMs: END_WITHIN_MS }]))
    await keepTemplate(place, dataDir);
  await services.revive();
  return services;
}

/**
 * The password is as it was, proven in one round instead of 4096: a client computes them for each of the 40 connections
 * of a service, 1.8 ms of processor time each. Postgres 15 knows no other number.
 */
async function easePassword(db: Sql, { username, password }: URL): Promise<void> {
  const [rounds] = await db`select from pg_settings where name = 'scram_iterations'`;
  if (rounds) await db.unsafe(`set scram_iterations = 1; alter role ${username} password '${password}'`);
}

/**
 * Tables of which the migrations leave a part dead: a file's clone is 19 MB without it instead of 24. Our own tables
 * stay as they are: Postgres plans otherwise for a table that was vacuumed while it was empty than for a new one.
 */
async function listCatalog(db: Sql): Promise<string[]> {
  const tables = await db<{ name: string }[]>`
    select oid::regclass::text as name from pg_class
    where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared`;
  return tables.map(({ name }) => name);
}
