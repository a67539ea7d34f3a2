import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder } from '../../support/new-folder.ts';
import { until } from '../../support/until.ts';
import { type RunningNode, startServer } from './redis-cluster.ts';

const ENOUGH_BYTES = 256 * 1024 ** 2;
const MISSED_AFTER_MS = 5000;

export interface Watched {
  /** `redis+sentinel://main@…` with all Sentinels. */
  url: string;
  master: RunningNode;
  replica: RunningNode;
  stop(): Promise<void>;
}

/** A master with a replica and three Sentinels, on free ports of this machine, on data in memory. */
export async function startWatched(): Promise<Watched> {
  const folder = await newFolder('sentinel', ENOUGH_BYTES);
  const master = await startServer(folder, []);
  const replica = await startServer(folder, ['--replicaof', `127.0.0.1 ${master.port}`]);
  await until(async () => /master_link_status:up/.test(await replica.redis.info('replication')), 20_000);
  const sentinels = await Promise.all(
    [1, 2, 3].map(async (number) => {
      const file = join(folder, `sentinel-${number}.conf`);
      await writeFile(
        file,
        [
          `sentinel monitor main 127.0.0.1 ${master.port} 2`,
          `sentinel down-after-milliseconds main ${MISSED_AFTER_MS}`,
          'sentinel failover-timeout main 10000',
        ].join('\n'),
      );
      return startServer(folder, [], { file });
    }),
  );
  await Promise.all(
    sentinels.map(({ redis }) =>
      until(async () => {
        const facts = (await redis.call('SENTINEL', 'MASTER', 'main')) as string[];
        const of = (name: string) => facts[facts.indexOf(name) + 1];
        return of('num-other-sentinels') === '2' && of('num-slaves') === '1';
      }, 30_000),
    ),
  );
  return {
    url: `redis+sentinel://main@${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    master,
    replica,
    async stop() {
      await Promise.all([...sentinels, replica, master].map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
