import { createServer } from 'node:http';
import { Queue, Worker } from 'bullmq';
import { loadConfig } from '../../src/platform/config.ts';
import { newId } from '../../src/platform/ids.ts';
import { openRuntime } from '../../src/platform/process/runtime.ts';
import { connectPatiently } from '../../src/platform/redis/connect.ts';
import { openReplies, publishReply } from '../../src/platform/replies/replies.ts';

/**
 * The least that a write over a queue can do: a bare door puts the body into a queue, a worker of another process
 * stores it by one insert with commit and replies, the door answers. No key, limiter, validation or second statement.
 * BENCH_ROLE says which of the two this process is.
 */
const QUEUE = 'bare';
const WAIT_MS = 10_000;
const runtime = openRuntime(loadConfig(), 'bare write');
const { redis, sql, config } = runtime;
const at = { connection: redis, prefix: config.REDIS_PREFIX };

interface Sent {
  cid: string;
  from: string;
  body: string;
}

if (process.env.BENCH_ROLE === 'worker') {
  const worker = new Worker<Sent>(
    QUEUE,
    async ({ data }) => {
      await sql`insert into bare_writes (id, body) values (${data.cid}, ${data.body})`;
      await publishReply(redis, config.REDIS_PREFIX, { to: data.from, cid: data.cid, reply: data.body });
    },
    at,
  );
  await worker.waitUntilReady();
} else {
  const queue = new Queue<Sent>(QUEUE, at);
  const from = newId();
  const replies = await openReplies(connectPatiently(config.REDIS_URL, 'bare replies'), config.REDIS_PREFIX, from);
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.once('end', async () => {
      const cid = newId();
      const reply = replies.wait(cid, WAIT_MS);
      await queue.add('write', { cid, from, body }, { jobId: cid, removeOnComplete: true });
      response.end(await reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(Number(process.env.PORT), '127.0.0.1', resolve));
}
process.send?.('ready');
process.once('SIGTERM', () => process.exit(0));
