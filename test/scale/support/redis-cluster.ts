import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { guardThrowaway } from '../../../src/platform/services/guard.ts';
import { choosePort } from '../../../src/platform/services/ports.ts';
import { newFolder } from '../../support/new-folder.ts';
import { until } from '../../support/until.ts';
import { findProgram } from './programs.ts';

const SLOTS = 16_384;
const ENOUGH_BYTES = 256 * 1024 ** 2;
/** That of docs/operations.md: the default of 15 s alone would be longer than a queue may stand. */
const NODE_TIMEOUT_MS = 5000;

/** One server, which a test may kill. */
export interface RunningNode {
  port: number;
  redis: Redis;
  kill(signal: NodeJS.Signals): void;
}

export interface RunningCluster {
  /** `redis+cluster://…` with all nodes. */
  url: string;
  masters: RunningNode[];
  /** The replica of each master, in their order; none without replicas. */
  replicas: RunningNode[];
  stop(): Promise<void>;
}

/** Three masters, each with a replica if wanted, on free ports of this machine, on data in memory unless told. */
export async function startCluster(
  options: { replicas?: boolean; folder?: string; settings?: readonly string[] } = {},
): Promise<RunningCluster> {
  const folder = options.folder ?? (await newFolder('cluster', ENOUGH_BYTES));
  const nodes = Array.from({ length: options.replicas ? 6 : 3 }, () => startNode(folder, options.settings ?? []));
  const servers = await Promise.all(nodes);
  const masters = servers.slice(0, 3);
  const copies = servers.slice(3);
  const share = Math.ceil(SLOTS / masters.length);
  for (const [index, { redis }] of masters.entries()) {
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', index * share, Math.min(SLOTS, (index + 1) * share) - 1);
    await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const other of servers.slice(1))
    await masters[0]!.redis.call('CLUSTER', 'MEET', '127.0.0.1', other.port, other.busPort);
  await untilAgreed(servers, servers.length);
  for (const [index, { redis }] of copies.entries())
    await redis.call('CLUSTER', 'REPLICATE', String(await masters[index]!.redis.call('CLUSTER', 'MYID')));
  for (const { redis } of copies)
    await until(async () => /master_link_status:up/.test(await redis.info('replication')), 20_000);
  return {
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    masters,
    replicas: copies,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

const untilAgreed = (servers: readonly { redis: Redis }[], count: number): Promise<unknown> =>
  Promise.all(
    servers.map(({ redis }) =>
      until(async () => {
        const info = await redis.cluster('INFO');
        return /cluster_state:ok/.test(info) && info.includes(`cluster_known_nodes:${count}`);
      }, 20_000),
    ),
  );

interface Server extends RunningNode {
  busPort: number;
  stop(): Promise<void>;
}

async function startNode(folder: string, settings: readonly string[]): Promise<Server> {
  const busPort = await choosePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  const timeouts = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--cluster-require-full-coverage', 'no'];
  return { ...(await startServer(folder, [...cluster, ...timeouts, ...settings])), busPort };
}

/**
 * A server with further settings, on a free port unless told; a Sentinel, whose file it rewrites, where one is named.
 */
export async function startServer(
  folder: string,
  settings: readonly string[],
  { file, ...given }: { file?: string; port?: number } = {},
): Promise<Omit<Server, 'busPort'>> {
  const port = given.port ?? (await choosePort());
  const own = join(folder, String(port));
  await mkdir(own, { recursive: true });
  const place = ['--port', String(port), '--dir', own, '--bind', '127.0.0.1'];
  const usual = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
  const args = file ? [file, '--sentinel', ...place] : [...place, ...usual, ...settings];
  const child = spawn(findProgram('redis-server')!, args, { stdio: 'ignore' });
  const lift = guardThrowaway({ pid: child.pid!, signal: 'SIGKILL', paths: [own], parent: folder });
  const redis = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 100, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  await until(() => redis.ping(), 10_000);
  return {
    port,
    redis,
    kill: (signal) => void child.kill(signal),
    async stop() {
      redis.disconnect();
      await ended(child);
      lift();
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGCONT');
  child.kill('SIGKILL');
  await gone;
}
