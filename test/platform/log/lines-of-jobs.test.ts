import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import { type Handlers, serveQueue } from '../../../src/platform/queue/worker.ts';
import { NO_REACTIONS } from '../../../src/platform/reactions.ts';
import { systemTransaction } from '../../../src/platform/records/system-transaction.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { type JobName, jobs, type QueueName, queues } from '../../../src/queues.ts';
import { removeAllKeys } from '../../support/redis-keys.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// Whoever looks for what happened to one organization finds it by `organization_id`, whatever job wrote the line.
const ROOT = new URL('../../..', import.meta.url).pathname;

/** Lines of work for no single organization, by their texts. */
const OF_ALL = [
  'abandoned advances not looked for',
  'abandoned ticks not looked for, tried again in seconds',
  'the lease was lost: the tick stops here, another process goes on',
  'marks of analytics not looked for',
  'sweep of owed work failed, it is tried again',
  'tick not claimed, tried again in a minute',
  'tick of a job that is not in the table',
  'periodic work fanned out',
  'month stays in the default partition',
  'partition dropped',
  'pools started',
  'rollups audited',
  'events not numbered',
  'prices of the deployment are old',
  'days added to the archive of electronic documents',
  'CONNECTORS_FILE is not set: no stream is read',
  'connectors started',
];

const sources = ['src/areas', 'src/jobs', 'src/platform/records'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

/** Calls of a log in a source: who logs, and what. A source that makes its own `log` logs by the one it made. */
function linesOf(source: string) {
  const [, own] = /const log = (ofOrganization\()/.exec(source) ?? [];
  return [
    ...source.matchAll(
      /((?:[\w.]*\blog|ofOrganization\([^)]*\)))\s*\.(?:debug|info|warn|error)\(([^;]*?)\)(?:;|,\n|\n)/g,
    ),
  ].map(([, log, args]) => ({
    log: own !== undefined && log === 'log' ? own : log!,
    args: args!.replaceAll(/\s+/g, ' '),
  }));
}

test('every line of a job names the organization, or is about none', () => {
  const lines = sources.flatMap((file) =>
    linesOf(readFileSync(join(ROOT, file), 'utf8')).map((line) => ({ file, ...line })),
  );
  expect(lines.length).toBeGreaterThan(35);
  const nameless = lines.filter(
    ({ log, args }) =>
      !/^ctx\.log$|^ofOrganization/.test(log) &&
      !/organization_id\b|\.\.\.ownerOf\(/.test(args) &&
      !OF_ALL.some((text) => args.includes(`'${text}'`)),
  );
  expect(nameless.map(({ file, args }) => `${file}: ${args}`)).toEqual([]);
  expect(
    lines.filter(({ args }) =>
      /\borganizationId\b(?!\))/.test(args.replaceAll(/organization_id: \S*organizationId/g, '')),
    ),
  ).toEqual([]);
});

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: [] });
});
afterAll(() => service.stop());

test('the context of work in the background logs for its organization', async () => {
  const org = await service.org();
  const id = org.organization.organization_id;
  const log = createLog({ level: 'silent', process: 'test' });
  const deps = { ...service, log, reactions: NO_REACTIONS, producer: service.ingress.producer };
  let bindings: object = {};
  await systemTransaction(
    deps,
    { id, sandbox: false },
    async () => realNow(),
    async (ctx) => {
      bindings = ctx.log.bindings();
    },
  );
  expect(bindings).toMatchObject({ organization_id: id });
});

test.each(Object.keys(queues) as QueueName[])('a failed job of %s names its organization', async (name) => {
  const prefix = `t${randomUUID().slice(0, 8)}`;
  const redis = connectPatiently(inject('redisUrl'), 'test');
  const lines: { msg: string; job: string; organization_id?: string }[] = [];
  const log = createLog({ level: 'info', process: 'test' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const own = (Object.keys(jobs) as JobName[]).filter((job) => jobs[job].queue === name);
  const fails = async () => {
    throw new Error('broken');
  };
  const handlers = Object.fromEntries(own.map((job) => [job, fails])) as unknown as Handlers;
  const served = serveQueue(name, handlers, { redis, prefix, concurrency: 1, log });
  const producer = createProducer(redis, prefix);
  const owned = own.filter((job) => 'organization_id' in jobs[job].payload.shape);
  for (const job of owned) await producer.queue(name).add(job, { organization_id: `of-${job}` });
  await until(() => lines.length >= owned.length);
  expect(lines.map((line) => line.organization_id).sort()).toEqual(owned.map((job) => `of-${job}`).sort());
  await served.close();
  await producer.close();
  await removeAllKeys(redis, prefix);
  redis.disconnect();
});
