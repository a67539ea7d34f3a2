import { z } from 'zod';
import { addressSetting, credentialSettings } from '../settings.ts';

const LONGEST_POLL_SECONDS = 3600;
const folder = z.string().regex(/^[^/].*\/$/, 'must end in / and not begin with one');

/** Where the files of a bucket lie, and what becomes of them. Rule: streams.md#s3. */
export const s3Settings = (environment: NodeJS.ProcessEnv) =>
  z.strictObject({
    bucket: z.string().min(1),
    prefix: z.string().default(''),
    region: z.string().min(1).optional(),
    /** Of a server that is not Amazon's. */
    endpoint: addressSetting().optional(),
    ...credentialSettings(environment),
    format: z.enum(['auto', 'ndjson', 'json', 'csv']).default('auto'),
    poll_seconds: z.int('must be whole seconds').min(1).max(LONGEST_POLL_SECONDS).optional(),
    /** Of a queue of SQS that hears of new files; the bucket is then listed only where `poll_seconds` is given too. */
    queue_url: addressSetting().optional(),
    /** Where files go once they are read; without it they stay. */
    processed_prefix: folder.optional(),
    /** The same for those that could not be read. */
    failed_prefix: folder.optional(),
  });

export type S3Settings = z.output<ReturnType<typeof s3Settings>>;
