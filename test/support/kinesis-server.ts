import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import {
  CreateStreamCommand,
  DeleteStreamCommand,
  DescribeStreamSummaryCommand,
  KinesisClient,
  ListShardsCommand,
  MergeShardsCommand,
  PutRecordsCommand,
  SplitShardCommand,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { until } from './until.ts';

const MOST_RECORDS = 500;
/** It loads for 3 s of processor time, which beside much else is a minute. */
const STARTED_WITHIN_MS = 120_000;

/** A server that speaks Kinesis and was not written here: the package kinesis-local. */
export class KinesisServer {
  readonly endpoint: string;
  readonly #process: ChildProcess;
  readonly #client: KinesisClient;

  private constructor(process: ChildProcess, endpoint: string) {
    this.endpoint = endpoint;
    this.#process = process;
    this.#client = new KinesisClient({
      region: 'eu-west-1',
      endpoint,
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      requestHandler: new NodeHttpHandler(),
    });
  }

  static async start(): Promise<KinesisServer> {
    const [plain, tls] = await Promise.all([freePort(), freePort()]);
    // It reads a file of its folder.
    const folder = dirname(createRequire(import.meta.url).resolve('kinesis-local/package.json'));
    const durations = ['CREATE_STREAM', 'DELETE_STREAM', 'SPLIT_SHARD', 'MERGE_SHARDS'];
    const child = spawn(process.execPath, ['main.js'], {
      cwd: folder,
      env: {
        ...process.env,
        KINESIS_MOCK_PLAIN_PORT: String(plain),
        KINESIS_MOCK_TLS_PORT: String(tls),
        AWS_REGION: 'eu-west-1',
        LOG_LEVEL: 'ERROR',
        ...Object.fromEntries(durations.map((name) => [`${name}_DURATION`, '10ms'])),
      },
      stdio: 'ignore',
    });
    const server = new KinesisServer(child, `http://127.0.0.1:${plain}`);
    await until(
      () =>
        server.#client
          .send(new ListShardsCommand({ StreamName: 'none' }))
          .catch(({ name }) => name === 'ResourceNotFoundException'),
      STARTED_WITHIN_MS,
    );
    return server;
  }

  async create(stream: string, shards: number): Promise<void> {
    await this.#client.send(new CreateStreamCommand({ StreamName: stream, ShardCount: shards }));
    await this.#active(stream);
  }

  async delete(stream: string): Promise<void> {
    await this.#client.send(new DeleteStreamCommand({ StreamName: stream }));
    await until(() =>
      this.shards(stream).then(
        () => false,
        () => true,
      ),
    );
  }

  /** Writes records, which are spread over the shards, and returns their sequence numbers. */
  async put(stream: string, records: readonly (string | Uint8Array)[]): Promise<string[]> {
    const sequences: string[] = [];
    for (let from = 0; from < records.length; from += MOST_RECORDS) {
      const Records = records.slice(from, from + MOST_RECORDS).map((data, index) => ({
        Data: typeof data === 'string' ? Buffer.from(data) : data,
        PartitionKey: `key-${from + index}`,
      }));
      const answer = await this.#client.send(new PutRecordsCommand({ StreamName: stream, Records }));
      if (answer.FailedRecordCount) throw new Error(`${answer.FailedRecordCount} records were refused`);
      sequences.push(...answer.Records!.map(({ SequenceNumber }) => SequenceNumber!));
    }
    return sequences;
  }

  /** How its checkpoints name a stream. */
  async about(stream: string): Promise<{ id: string }> {
    const { StreamDescriptionSummary: found } = await this.#client.send(
      new DescribeStreamSummaryCommand({ StreamName: stream }),
    );
    return { id: `${stream}@${found!.StreamCreationTimestamp!.getTime()}` };
  }

  /** Every shard, also those that were split or merged. */
  async shards(stream: string) {
    return (await this.#client.send(new ListShardsCommand({ StreamName: stream }))).Shards!;
  }

  /** Splits a shard in its middle. */
  async split(stream: string, shard: string): Promise<void> {
    const { HashKeyRange: range } = (await this.shards(stream)).find(({ ShardId }) => ShardId === shard)!;
    const middle = (BigInt(range!.StartingHashKey!) + BigInt(range!.EndingHashKey!)) / 2n;
    const input = { StreamName: stream, ShardToSplit: shard, NewStartingHashKey: String(middle) };
    await this.#client.send(new SplitShardCommand(input));
    await this.#active(stream);
  }

  async merge(stream: string, shard: string, other: string): Promise<void> {
    const input = { StreamName: stream, ShardToMerge: shard, AdjacentShardToMerge: other };
    await this.#client.send(new MergeShardsCommand(input));
    await this.#active(stream);
  }

  async #active(stream: string): Promise<void> {
    await until(async () => {
      const about = await this.#client.send(new DescribeStreamSummaryCommand({ StreamName: stream }));
      return about.StreamDescriptionSummary!.StreamStatus === 'ACTIVE';
    });
  }

  async stop(): Promise<void> {
    this.#client.destroy();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
