import { z } from 'zod';
import { addressSetting, credentialSettings } from '../settings.ts';

const LONGEST_NAME = 128;
const STREAM = /^(?:arn:[\w-]+:kinesis:[\w-]+:\d{12}:stream\/)?[\w.-]+$/;
const LONGEST_ARN = 256;
/** The oldest record that the service has kept. */
export const TRIM_HORIZON = 'trim_horizon';

/** Which stream is read, and how it is reached. Rule: streams.md#kinesis. */
export const kinesisSettings = (environment: NodeJS.ProcessEnv) =>
  z.strictObject({
    /** Its name or its ARN. */
    stream: z
      .string()
      .max(LONGEST_ARN)
      .regex(STREAM, 'must be the name of a stream, or its ARN')
      .refine((stream) => nameOf(stream).length <= LONGEST_NAME, 'must be the name of a stream, or its ARN'),
    /** Default: that of the ARN, or as the SDK finds it. */
    region: z.string().min(1).optional(),
    /** Of a server that is not Amazon's. */
    endpoint: addressSetting().optional(),
    ...credentialSettings(environment),
    /** Where a shard begins of which nothing was read yet. */
    start: z
      .string()
      .refine(
        (start) => start === TRIM_HORIZON || z.iso.datetime({ offset: true }).safeParse(start).success,
        'must be trim_horizon, or an instant as 2026-11-24T10:00:00Z',
      )
      .default(TRIM_HORIZON),
  });

export type KinesisSettings = z.output<ReturnType<typeof kinesisSettings>>;

/** `arn:aws:kinesis:eu-west-1:123456789012:stream/usage` → `usage` */
export const nameOf = (stream: string): string => stream.slice(stream.lastIndexOf('/') + 1);

export const regionOf = ({ region, stream }: KinesisSettings): string | undefined =>
  region ?? (stream.startsWith('arn:') ? stream.split(':')[3] : undefined);
