import { z } from 'zod';
import { ConfigError } from '../../../platform/config.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { openKafka } from '../../../platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../../platform/streams/kafka/settings.ts';
import { openKinesis } from '../../../platform/streams/kinesis/kinesis-source.ts';
import { kinesisSettings } from '../../../platform/streams/kinesis/settings.ts';
import { readSettingsFile, UnreadableFile } from '../../../platform/streams/read-settings-file.ts';
import { openS3 } from '../../../platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../platform/streams/s3/settings.ts';
import type { StreamSource } from '../../../platform/streams/source.ts';

/** A source of an organization, as the file of the deployment says. */
export interface ConfiguredConnector {
  organizationId: OrganizationId;
  code: string;
  kind: string;
  source: StreamSource;
}

const LONGEST_CODE = 64;

const connectorsFile = (environment: NodeJS.ProcessEnv) =>
  z.strictObject({
    connectors: z.array(
      z.strictObject({
        code: z
          .string()
          .max(LONGEST_CODE)
          .regex(/^[\w.-]+$/, 'must be letters, digits, dots, dashes and underscores'),
        organization: z.uuid('must be the id of an organization'),
        kafka: kafkaSettings(environment).optional(),
        kinesis: kinesisSettings(environment).optional(),
        s3: s3Settings(environment).optional(),
      }),
    ),
  });

type Entry = z.output<ReturnType<typeof connectorsFile>>['connectors'][number];

/** The kinds of sources: a connector has the settings of one. */
const KINDS: { [Kind in 'kafka' | 'kinesis' | 's3']: (entry: Entry) => StreamSource } = {
  kafka: (entry) => openKafka({ ...entry.kafka!, group: groupOf(entry) }),
  kinesis: ({ kinesis }) => openKinesis(kinesis!),
  s3: ({ s3 }) => openS3(s3!),
};

const groupOf = ({ kafka, organization }: Entry): string => kafka?.group ?? `svc-ingest-${organization}`;

/**
 * The connectors of a file, in YAML or JSON. Secrets are read from the environment variables that it names.
 *
 * @throws ConfigError that names every wrong place by its path, and no value
 * Rule: streams.md#file.
 */
export function readConnectorsFile(path: string, environment: NodeJS.ProcessEnv = process.env): ConfiguredConnector[] {
  const parsed = connectorsFile(environment).safeParse(contentOf(path));
  if (!parsed.success) throw wrong(path, parsed.error.issues.flatMap(problemsOf));
  const { connectors } = parsed.data;
  const problems = connectors.flatMap((entry, index) => contradictionsOf(entry, index, connectors));
  if (problems.length > 0) throw wrong(path, problems);
  return connectors.map((entry) => {
    const kind = kindsOf(entry)[0]!;
    const { code, organization: organizationId } = entry;
    return { organizationId, code, kind, source: KINDS[kind](entry) };
  });
}

const wrong = (path: string, problems: readonly string[]): ConfigError =>
  new ConfigError(`CONNECTORS_FILE ${path} is not valid: ${problems.join('; ')}`);

function contentOf(path: string): unknown {
  try {
    return readSettingsFile(path);
  } catch (error) {
    if (error instanceof UnreadableFile) throw wrong(path, [error.message]);
    throw error;
  }
}

/** `connectors[0].kafka.brokers: must …`, for each place; values are not shown, since they may be secrets. */
function problemsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${placeOf([...issue.path, key])}: is no setting`);
  if (issue.code === 'invalid_union') return [`${placeOf(issue.path)}: ${deepestOf(issue)}`];
  return [`${placeOf(issue.path)}: ${wordsOf(issue)}`];
}

/** Of the alternatives the one that came furthest. */
function deepestOf(issue: z.core.$ZodIssueInvalidUnion): string {
  const inner = issue.errors.flat().sort((one, other) => other.path.length - one.path.length)[0];
  if (!inner) return 'is not understood';
  return [inner.path.length === 0 ? '' : `${placeOf(inner.path)} `, wordsOf(inner)].join('');
}

function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return /^must |^names /.test(issue.message) ? issue.message : `must be ${issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return 'must not be empty';
    case 'too_big':
      return `must have at most ${issue.maximum} characters`;
    case 'unrecognized_keys':
      return `${issue.keys.join(', ')} is no setting`;
    default:
      return issue.message;
  }
}

const placeOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (place, name) =>
      typeof name === 'number' ? `${place}[${name}]` : `${place}${place === '' ? '' : '.'}${String(name)}`,
    '',
  ) || 'the file';

const kindsOf = (entry: Entry) => (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) => entry[kind]);

function contradictionsOf(entry: Entry, index: number, all: readonly Entry[]): string[] {
  const place = `connectors[${index}]`;
  const kinds = kindsOf(entry);
  const first = all.findIndex(({ code, organization }) => code === entry.code && organization === entry.organization);
  // Members of a group read the same topics.
  const sharing = all.findIndex((other) => other.kafka && entry.kafka && groupOf(other) === groupOf(entry));
  return [
    ...(kinds.length === 1 ? [] : [`${place}: must have one of ${Object.keys(KINDS).join(', ')}`]),
    ...(first === index ? [] : [`${place}.code: is that of connectors[${first}]`]),
    ...(sharing === -1 || sharing === index ? [] : [`${place}.kafka.group: is that of connectors[${sharing}]`]),
  ];
}
