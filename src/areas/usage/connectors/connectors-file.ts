import { z } from 'zod';
import { type Config, ConfigError } from '../../../platform/config.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { openKafka } from '../../../platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../../platform/streams/kafka/settings.ts';
import { openKinesis } from '../../../platform/streams/kinesis/kinesis-source.ts';
import { kinesisSettings } from '../../../platform/streams/kinesis/settings.ts';
import { readSettingsFile, UnreadableFile } from '../../../platform/streams/read-settings-file.ts';
import { openS3 } from '../../../platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../platform/streams/s3/settings.ts';
import type { StreamSource } from '../../../platform/streams/source.ts';
import { streamName } from '../../../platform/wire-prefix.ts';

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
        organization: z.uuid('must be the id of an organization').transform((id) => id.toLowerCase()),
        kafka: kafkaSettings(environment).optional(),
        kinesis: kinesisSettings(environment).optional(),
        s3: s3Settings(environment).optional(),
      }),
    ),
  });

/** A connector as it is set, and the prefix of the service's own names. */
type Entry = z.output<ReturnType<typeof connectorsFile>>['connectors'][number] & { prefix: string };

/** The kinds of sources: a connector has the settings of one. */
const KINDS: { [Kind in 'kafka' | 'kinesis' | 's3']: (entry: Entry) => StreamSource } = {
  kafka: (entry) => openKafka({ ...entry.kafka!, group: groupOf(entry) }),
  kinesis: ({ kinesis }) => openKinesis(kinesis!),
  s3: ({ s3 }) => openS3(s3!),
};

const groupOf = ({ kafka, organization, prefix }: Entry): string =>
  kafka?.group ?? `${streamName('svc-ingest', prefix)}-${organization}`;

/**
 * The connectors of a file, in YAML or JSON. Secrets are read from the environment variables that it names.
 *
 * @throws ConfigError that names every wrong place by its path, and no value
 * Rule: streams.md#file.
 */
export function readConnectorsFile(
  path: string,
  { WIRE_PREFIX: prefix }: Pick<Config, 'WIRE_PREFIX'>,
  environment: NodeJS.ProcessEnv = process.env,
): ConfiguredConnector[] {
  const parsed = connectorsFile(environment).safeParse(contentOf(path));
  if (!parsed.success) throw wrong(path, parsed.error.issues.flatMap(problemsOf));
  const connectors = parsed.data.connectors.map((entry) => ({ ...entry, prefix }));
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
  if (issue.code === 'invalid_union') return unionProblemsOf(issue);
  return [`${placeOf(issue.path)}: ${wordsOf(issue)}`];
}

/** Of alternatives what is wrong in the one whose kind the value has; else each kind that it might have. */
function unionProblemsOf({ errors, path }: z.core.$ZodIssueInvalidUnion): string[] {
  const meant = errors.find((issues) => !issues.some((issue) => isOfAnotherKind(issue)));
  if (meant) return meant.flatMap((issue) => problemsOf({ ...issue, path: [...path, ...issue.path] }));
  return [`${placeOf(path)}: ${errors.map((issues) => wordsOf(issues[0]!)).join(', or ')}`];
}

const isOfAnotherKind = ({ code, path }: z.core.$ZodIssue): boolean => code === 'invalid_type' && path.length === 0;

/** Kinds of values, as people say. */
const KINDS_OF_VALUES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'settings by their names',
  string: 'a text',
};

function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (/^must |^names /.test(issue.message)) return issue.message;
      if (/received undefined$/.test(issue.message)) return 'is missing';
      return `must be ${KINDS_OF_VALUES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return isOfNumber(issue) ? `must be at least ${issue.minimum}` : 'must not be empty';
    case 'too_big':
      return `must ${isOfNumber(issue) ? 'be at most' : 'have at most'} ${issue.maximum}${LENGTH[issue.origin] ?? ''}`;
    default:
      return issue.message;
  }
}

const LENGTH: Readonly<Record<string, string>> = { string: ' characters' };

const isOfNumber = ({ origin }: { origin: string }): boolean => origin === 'number' || origin === 'int';

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
    ...(sharing === -1 || sharing === index
      ? []
      : [`${place}.kafka.group: is that of connectors[${sharing}], name another`]),
  ];
}
