import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';

const CONNECT_MS = 5000;
/** Without a byte for so long a request fails. */
const SILENT_MS = 60_000;

/** Where objects lie: `s3://bucket/prefix`, with `?region=…&endpoint=https://…` for what is not Amazon's. */
export interface BucketAddress {
  bucket: string;
  /** Empty, or with a `/` at its end. */
  prefix: string;
  region: string | undefined;
  endpoint: string | undefined;
}

/** @throws Error naming what is wrong with it */
export function readBucketAddress(text: string): BucketAddress {
  const url = new URL(text);
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'region' && name !== 'endpoint');
  if (url.protocol !== 's3:' || url.host === '') throw new Error('an address of a bucket is s3://bucket/prefix');
  if (unknown !== undefined) throw new Error(`an address of a bucket knows region and endpoint, not ${unknown}`);
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  return {
    bucket: url.host,
    prefix: path === '' ? '' : `${path}/`,
    region: url.searchParams.get('region') ?? undefined,
    endpoint: url.searchParams.get('endpoint') ?? undefined,
  };
}

/** Objects of a bucket. */
export interface Bucket {
  put(file: string, key: string): Promise<void>;
  /** @throws Error, if there is none */
  fetch(key: string, file: string): Promise<void>;
}

/**
 * Opens a bucket when it is first used. Credentials, and the region where the address has none, are found as the SDK
 * finds them: in the environment, a profile, or the role of the machine. The SDK is an optional dependency of 22 MB,
 * which is loaded only here.
 */
export function openBucket(address: BucketAddress): Bucket {
  let opened: Promise<{ sdk: Sdk; client: S3Client }> | undefined;
  const open = () => {
    opened ??= connectS3(address);
    return opened;
  };
  const at = (key: string) => ({ Bucket: address.bucket, Key: `${address.prefix}${key}` });
  return {
    put: (file, key) =>
      named(at(key).Key, async () => {
        const { sdk, client } = await open();
        const { size } = await stat(file);
        await client.send(new sdk.PutObjectCommand({ ...at(key), Body: createReadStream(file), ContentLength: size }));
      }),
    fetch: (key, file) =>
      named(at(key).Key, async () => {
        const { sdk, client } = await open();
        const { Body } = await client.send(new sdk.GetObjectCommand(at(key)));
        await pipeline(Body as Readable, createWriteStream(file));
      }),
  };
}

/** The SDK's errors tell neither the object nor, but by their names, what was wrong. */
async function named(key: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const { name, message } = cause as Error;
    throw new Error(`${key}: ${name}: ${message}`, { cause });
  }
}

type Sdk = typeof import('@aws-sdk/client-s3');

/** Where a server of objects is reached. Credentials that are not given are found as the SDK finds them. */
type ServerOfObjects = Pick<BucketAddress, 'region' | 'endpoint'> & {
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** Of the SDK's files of configuration. */
  profile?: string | undefined;
};

/** The SDK, which is loaded here, and a client. @throws Error when the package was left out */
export async function connectS3(server: ServerOfObjects): Promise<{ sdk: Sdk; client: S3Client }> {
  const { region, endpoint, credentials, profile } = server;
  const sdk = await import('@aws-sdk/client-s3').catch((cause: unknown) => {
    throw new Error('s3: needs the package @aws-sdk/client-s3, which was left out: npm install', { cause });
  });
  const client = new sdk.S3Client({
    ...(region === undefined ? {} : { region }),
    ...(credentials ? { credentials } : {}),
    ...(profile === undefined ? {} : { profile }),
    // Other servers than Amazon's have no name for each bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // Others know no checksums in trailers. Whoever needs to be sure reads back what was put.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: SILENT_MS, throwOnRequestTimeout: true },
  });
  return { sdk, client };
}
