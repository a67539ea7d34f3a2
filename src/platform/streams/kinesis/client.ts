import type { KinesisClient } from '@aws-sdk/client-kinesis';
import { reasonOf } from '../sdk-errors.ts';
import { SourceTrouble } from '../source.ts';
import type { KinesisRecord, ShardPlace } from './record-messages.ts';
import { type KinesisSettings, nameOf, regionOf, TRIM_HORIZON } from './settings.ts';

const CONNECT_MS = 5000;
/** Without a byte for so long a request fails. */
const SILENT_MS = 60_000;
const MOST_RECORDS = 10_000;

/** A part of a stream, which begins where its parents end. */
export interface Shard {
  id: string;
  /** One or two, of which some may have been removed since. */
  parents: string[];
}

/** Records of a shard, from one request. */
interface RecordsPage {
  records: KinesisRecord[];
  /** Undefined at the end of a shard that was split or merged. */
  next: string | undefined;
  behindMs: number;
}

/** So many requests were made that this one is refused; a later one is not. */
export class Throttled extends Error {}
/** The iterator was not used for five minutes; another one goes on at the same place. */
export class IteratorExpired extends Error {}

/** There is no such stream, or it has no such shard any more. */
export class Missing extends SourceTrouble {}

/** A stream. */
export interface KinesisStream {
  /** Its name and when it was made, `usage@1764000000000`: one that was made anew is another. */
  id: string;
  shards(): Promise<Shard[]>;
  /** Where reading goes on; without a place where the settings say. @throws Throttled */
  iterator(shard: string, at: ShardPlace | undefined): Promise<string>;
  /** @throws Throttled, IteratorExpired */
  records(iterator: string): Promise<RecordsPage>;
  close(): void;
}

/** How the ids of all streams begin that ever had the name of one. */
export const namePrefixOf = ({ id }: Pick<KinesisStream, 'id'>): string => id.slice(0, id.lastIndexOf('@') + 1);

/** @throws SourceTrouble when the stream cannot be read */
export async function openStream(settings: KinesisSettings, signal: AbortSignal): Promise<KinesisStream> {
  const { stream, start } = settings;
  const { sdk, client } = await connect(settings);
  const options = { abortSignal: signal };
  const named = stream.startsWith('arn:') ? { StreamARN: stream } : { StreamName: stream };
  const met = (error: unknown): never => {
    throw meaningOf(error, stream);
  };
  const about = await client.send(new sdk.DescribeStreamSummaryCommand(named), options).catch(met);
  const madeAt = about.StreamDescriptionSummary!.StreamCreationTimestamp!;

  return {
    id: `${nameOf(stream)}@${madeAt.getTime()}`,
    async shards() {
      const shards: Shard[] = [];
      let token: string | undefined;
      do {
        const input = token === undefined ? named : { NextToken: token };
        const page = await client.send(new sdk.ListShardsCommand(input), options).catch(met);
        for (const { ShardId, ParentShardId, AdjacentParentShardId } of page.Shards ?? [])
          shards.push({
            id: ShardId!,
            parents: [ParentShardId, AdjacentParentShardId].filter((id) => id !== undefined),
          });
        token = page.NextToken;
      } while (token !== undefined);
      return shards;
    },
    async iterator(shard, at) {
      const input = { ...named, ShardId: shard, ...whereOf(at, start) };
      return (await client.send(new sdk.GetShardIteratorCommand(input), options).catch(met)).ShardIterator!;
    },
    async records(iterator) {
      const input = { ShardIterator: iterator, Limit: MOST_RECORDS };
      const page = await client.send(new sdk.GetRecordsCommand(input), options).catch(met);
      return { records: page.Records ?? [], next: page.NextShardIterator, behindMs: page.MillisBehindLatest ?? 0 };
    },
    close: () => client.destroy(),
  };
}

type Sdk = typeof import('@aws-sdk/client-kinesis');

/** The SDK, an optional dependency that is loaded here, and a client. It speaks HTTP 1.1, as all servers do. */
async function connect(settings: KinesisSettings): Promise<{ sdk: Sdk; client: KinesisClient }> {
  const { endpoint, credentials: keys, profile } = settings;
  const region = regionOf(settings);
  const [sdk, { NodeHttpHandler }] = await Promise.all([
    import('@aws-sdk/client-kinesis'),
    import('@smithy/node-http-handler'),
  ]).catch((cause: unknown) => {
    throw new SourceTrouble('needs the package @aws-sdk/client-kinesis, which was left out: npm install', { cause });
  });
  const client = new sdk.KinesisClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(profile === undefined ? {} : { profile }),
    ...(keys ? { credentials: { accessKeyId: keys.access_key_id, secretAccessKey: keys.secret_access_key } } : {}),
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      requestTimeout: SILENT_MS,
      throwOnRequestTimeout: true,
    }),
  });
  return { sdk, client };
}

function whereOf(at: ShardPlace | undefined, start: KinesisSettings['start']) {
  if (at) {
    const type = at.next === null ? 'AFTER_SEQUENCE_NUMBER' : 'AT_SEQUENCE_NUMBER';
    return { ShardIteratorType: type, StartingSequenceNumber: at.sequence } as const;
  }
  if (start === TRIM_HORIZON) return { ShardIteratorType: 'TRIM_HORIZON' } as const;
  return { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: new Date(start) } as const;
}

const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'LimitExceededException',
  'KMSThrottlingException',
  'ThrottlingException',
]);

/** What an error of the SDK means, without what it tells of the request. */
function meaningOf(error: unknown, stream: string): Error {
  const { name } = error as Error;
  if (THROTTLES.has(name)) return new Throttled(name, { cause: error });
  if (name === 'ExpiredIteratorException') return new IteratorExpired(name, { cause: error });
  if (name === 'ResourceNotFoundException') return new Missing(`the stream ${stream} is missing`, { cause: error });
  return new SourceTrouble(`the stream ${stream} cannot be read: ${reasonOf(error)}`, { cause: error });
}
