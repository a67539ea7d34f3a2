import type { Readable } from 'node:stream';
import { connectS3 } from '../../s3/bucket.ts';
import { reasonOf } from '../sdk-errors.ts';
import { type ObjectName, SourceTrouble } from '../source.ts';
import type { S3Settings } from './settings.ts';

/** An object of a listing. */
export interface FoundObject extends ObjectName {
  size: number;
  /** When it was written, ISO text in UTC with microseconds. */
  sourceTime: string;
  /** Names it in checkpoints and leases. */
  id: string;
}

/** Names a file in checkpoints and leases. */
export const idOf = ({ bucket, key, etag }: ObjectName): string => `${bucket}/${key}#${etag}`;

/** The object is no longer there, or was rewritten. */
export class ObjectIsGone extends Error {}
/** The server refuses this object. */
export class ObjectRefused extends Error {}

/** The objects of a bucket below a prefix. */
export interface ObjectStore {
  pages(): AsyncGenerator<FoundObject[]>;
  /** An object as it is now; undefined if there is none. @throws ObjectRefused, SourceTrouble */
  find(key: string): Promise<FoundObject | undefined>;
  /** @throws ObjectIsGone, ObjectRefused, SourceTrouble */
  open(object: FoundObject, offset: number): Promise<AsyncIterable<Uint8Array>>;
  /** Moves an object as it was found; one that was rewritten meanwhile stays. */
  move(object: FoundObject, to: string): Promise<void>;
  close(): void;
}

const NOT_FOUND = 404;
const CHANGED = 412;
/** Of an answer that a later one may not repeat: the request came too late, or was one too many. */
const PASSING = new Set([408, 429]);
/** Errors of credentials that have ended, which answer any request so. */
const ENDED_CREDENTIALS = new Set(['ExpiredToken', 'InvalidToken', 'TokenRefreshRequired']);

export async function openStore(settings: S3Settings, signal: AbortSignal): Promise<ObjectStore> {
  const { bucket, prefix, region, endpoint, profile, credentials: keys } = settings;
  const credentials = keys && { accessKeyId: keys.access_key_id, secretAccessKey: keys.secret_access_key };
  const server = { region, endpoint, profile, ...(credentials ? { credentials } : {}) };
  const { sdk, client } = await connectS3(server).catch(({ message }: Error) => {
    throw new SourceTrouble(message);
  });
  const options = { abortSignal: signal };
  const found = (key: string, etag: string, size: number, written: Date): FoundObject => ({
    bucket,
    key,
    etag,
    size,
    sourceTime: `${written.toISOString().slice(0, -1)}000Z`,
    id: idOf({ bucket, key, etag }),
  });

  async function* pages(): AsyncGenerator<FoundObject[]> {
    let token: string | undefined;
    do {
      const input = { Bucket: bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) };
      const page = await client.send(new sdk.ListObjectsV2Command(input), options).catch((error: unknown) => {
        throw troubleOf(error, bucket);
      });
      yield (page.Contents ?? []).map(({ Key, ETag, Size, LastModified }) => found(Key!, ETag!, Size!, LastModified!));
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** @throws what the answer of the server means for the object */
  const ofObject = (error: unknown): never => {
    const status = statusOf(error);
    if (status === NOT_FOUND || status === CHANGED) throw new ObjectIsGone();
    if (isRefusal(error)) throw new ObjectRefused(`the server refuses it: ${(error as Error).name}`);
    throw troubleOf(error, bucket);
  };

  return {
    pages,
    async find(key) {
      const input = { Bucket: bucket, Key: key };
      const head = await client.send(new sdk.HeadObjectCommand(input), options).catch((error: unknown) => {
        if (statusOf(error) === NOT_FOUND) return undefined;
        return ofObject(error);
      });
      return head && found(key, head.ETag!, head.ContentLength ?? 0, head.LastModified!);
    },
    async open({ key, etag }, offset) {
      const range = offset === 0 ? {} : { Range: `bytes=${offset}-` };
      const input = { Bucket: bucket, Key: key, IfMatch: etag, ...range };
      const { Body, ETag } = await client.send(new sdk.GetObjectCommand(input), options).catch(ofObject);
      // Not every server knows the condition.
      if (ETag === etag) return bodyOf(Body as Readable, bucket);
      (Body as Readable).destroy();
      throw new ObjectIsGone();
    },
    async move({ key, etag }, to) {
      const source = `${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
      const at = { Bucket: bucket, Key: key };
      try {
        const input = { Bucket: bucket, Key: to, CopySource: source, CopySourceIfMatch: etag };
        await client.send(new sdk.CopyObjectCommand(input), options);
        const { ETag } = await client.send(new sdk.HeadObjectCommand(at), options);
        if (ETag === etag) await client.send(new sdk.DeleteObjectCommand({ ...at, IfMatch: etag }), options);
      } catch (error) {
        if (statusOf(error) === NOT_FOUND || statusOf(error) === CHANGED) return;
        throw new SourceTrouble(`${key} cannot be moved to ${to}: ${reasonOf(error)}`, { cause: error });
      }
    },
    close: () => client.destroy(),
  };
}

/** Its bytes; what ends them early is trouble of the server, and reading begins anew where it was. */
async function* bodyOf(body: Readable, bucket: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw troubleOf(error, bucket);
  } finally {
    body.destroy();
  }
}

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

/** Whether the server refuses the object, such as one that is encrypted with a key of its owner, or archived. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined || status < 400 || status >= 500 || PASSING.has(status)) return false;
  return !ENDED_CREDENTIALS.has((error as Error).name);
}

/** In words, and without what the SDK tells of the request. */
const troubleOf = (error: unknown, bucket: string): SourceTrouble =>
  new SourceTrouble(`the bucket ${bucket} cannot be read: ${reasonOf(error)}`, { cause: error });
