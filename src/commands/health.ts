import { get } from 'node:http';
import { Command } from 'commander';
import { type Config, loadConfig } from '../platform/config.ts';
import { partsOf, storedNames } from '../platform/queue/queue-names.ts';
import { standingQueues } from '../platform/queue/queue-progress.ts';
import { connectImpatiently, untilConnected } from '../platform/redis/connect.ts';
import type { QueueName } from '../queues.ts';

const ANSWER_WITHIN_MS = 4000;

const command = new Command('health')
  .description('whether a process does its work: the ingress answers, or the named queues move')
  .argument('[queues...]', 'those of a worker')
  .parse();

/**
 * Health check of one container: exits with 0 if it works. The ingress is checked over HTTP; a worker, named by its
 * queues, is healthy while they finish jobs.
 *
 *   node dist/src/commands/health.js
 *   node dist/src/commands/health.js writes audit
 */
const config = loadConfig();
const served = command.args;
const isWell = await (served.length === 0 ? answers(config) : moves(config, served)).catch((error: Error) => {
  console.error(error.message);
  return false;
});
process.exit(isWell ? 0 : 1);

function answers({ PORT }: Config): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const request = get(`http://127.0.0.1:${PORT}/health`, { timeout: ANSWER_WITHIN_MS }, (response) =>
      resolve(response.statusCode === 200),
    );
    request.on('timeout', () => request.destroy(new Error('the ingress does not answer')));
    request.on('error', reject);
  });
}

async function moves(config: Config, names: readonly string[]): Promise<boolean> {
  const redis = connectImpatiently(config.REDIS_URL, 'meterstone health', ANSWER_WITHIN_MS);
  await untilConnected(redis);
  const stored = names.flatMap((name) => storedNames(name as QueueName, partsOf(config)));
  const standing = await standingQueues(redis, config.REDIS_PREFIX, stored);
  if (standing.length > 0) console.error(`standing still: ${standing.join(', ')}`);
  return standing.length === 0;
}
