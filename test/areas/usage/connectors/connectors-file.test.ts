import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConnectorsFile } from '../../../../src/areas/usage/connectors/connectors-file.ts';
import { newFolder } from '../../../support/new-folder.ts';

const ORGANIZATION = '01890000-0000-7000-8000-000000000000';
let folder: string;
beforeAll(async () => {
  folder = await newFolder('connectors', 1_000_000);
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string, environment: Record<string, string> = {}, prefix = 'svc') => {
  const path = join(folder, 'connectors.yaml');
  writeFileSync(path, text);
  return readConnectorsFile(path, { WIRE_PREFIX: prefix }, environment);
};
const kafka = (settings: object, rest: object = {}) =>
  JSON.stringify({
    connectors: [
      {
        code: 'stream',
        organization: ORGANIZATION,
        kafka: { brokers: ['a:9092'], topics: ['calls'], ...settings },
        ...rest,
      },
    ],
  });

const kinesis = (settings: object) => kafka({}, { kafka: undefined, kinesis: { stream: 'usage', ...settings } });

const s3 = (settings: object) => kafka({}, { kafka: undefined, s3: { bucket: 'usage', ...settings } });

test('YAML and JSON say the same', () => {
  const yaml = `
connectors:
  - code: stream
    organization: ${ORGANIZATION}
    kafka:
      brokers: [a:9092, "[::1]:9092"]
      topics: [calls]
      sasl:
        mechanism: scram-sha-512
        username: meterstone
        password: { env: KAFKA_PASSWORD }
`;
  const expected = { organizationId: ORGANIZATION, code: 'stream', kind: 'kafka', source: expect.anything() };
  expect(read(yaml, { KAFKA_PASSWORD: 'secret' })).toEqual([expected]);
  expect(read(kafka({}))).toEqual([expected]);
});

test.each([
  ['no list', 'connectors: 7', 'connectors: must be a list'],
  ['something else', '- 7', 'the file: must be settings by their names'],
  ['a setting that is missing', kafka({ topics: undefined }), 'connectors[0].kafka.topics: is missing'],
  ['broken YAML', 'connectors: [', 'it is no YAML or JSON'],
  ['an unknown setting', kafka({ broker: 'a' }), 'connectors[0].kafka.broker: is no setting'],
  ['an unknown kind', kafka({}, { pulsar: {} }), 'connectors[0].pulsar: is no setting'],
  ['a broker without port', kafka({ brokers: ['a'] }), 'connectors[0].kafka.brokers[0]: must be host:port'],
  ['no topic', kafka({ topics: [] }), 'connectors[0].kafka.topics: must not be empty'],
  [
    'no organization',
    kafka({}, { organization: 'acme' }),
    'connectors[0].organization: must be the id of an organization',
  ],
  ['no source', kafka({}, { kafka: undefined }), 'connectors[0]: must have one of kafka'],
  ['a stream of no name', kinesis({ stream: 'a b' }), 'connectors[0].kinesis.stream: must be the name of a stream'],
  [
    'an ARN of something else',
    kinesis({ stream: 'arn:aws:sqs:eu-west-1:123456789012:usage' }),
    'connectors[0].kinesis.stream: must be the name of a stream, or its ARN',
  ],
  [
    'a start that is no instant',
    kinesis({ start: 'latest' }),
    'connectors[0].kinesis.start: must be trim_horizon, or an instant',
  ],
  [
    'a file that is not there',
    kafka({ tls: { ca_file: '/nowhere' } }),
    'connectors[0].kafka.tls.ca_file: must be the path',
  ],
  ['an unknown setting of tls', kafka({ tls: { ca: 'a' } }), 'connectors[0].kafka.tls.ca: is no setting'],
  ['no kind of tls', kafka({ tls: 7 }), 'kafka.tls: must be true or false, or must be settings by their names'],
  [
    'a name of a variable under another name',
    kafka({ sasl: { mechanism: 'plain', username: { variable: 'A' }, password: { env: 'PATH' } } }),
    'connectors[0].kafka.sasl.username.env: is missing',
  ],
  ['a number that is too small', kafka({ session_timeout_seconds: 5 }), 'session_timeout_seconds: must be at least 6'],
  ['one that is too large', kafka({ session_timeout_seconds: 3600 }), 'must be at most 1800'],
  ['one that is not whole', kafka({ session_timeout_seconds: 6.5 }), 'must be a whole number'],
  ['a name that is too long', kafka({ group: 'g'.repeat(250) }), 'kafka.group: must have at most 249 characters'],
  ['a pause that is none', s3({ poll_seconds: 0 }), 'connectors[0].s3.poll_seconds: must be at least 1'],
  [
    'an address without scheme',
    s3({ endpoint: 'localhost:4566' }),
    'connectors[0].s3.endpoint: must be a URL as https',
  ],
  [
    'an address with a password',
    s3({ queue_url: 'https://me:hunter2@sqs.example.com/1/q' }),
    'connectors[0].s3.queue_url: must be a URL as https://host:port, without credentials',
  ],
  [
    'a variable that is not set',
    kafka({ sasl: { mechanism: 'plain', username: 'u', password: { env: 'NOWHERE' } } }),
    'connectors[0].kafka.sasl.password.env: names NOWHERE, which is not set',
  ],
])('%s is named by its path', (_, text, problem) => {
  expect(() => read(text)).toThrow(problem);
});

test('streams of Kinesis are named by name or ARN, and begin at an instant', () => {
  const arn = 'arn:aws:kinesis:eu-west-1:123456789012:stream/usage';
  const found = { organizationId: ORGANIZATION, code: 'stream', kind: 'kinesis', source: expect.anything() };
  expect(read(kinesis({}))).toEqual([found]);
  expect(read(kinesis({ stream: arn, start: '2026-11-24T10:00:00+01:00' }))).toEqual([found]);
});

test('a secret stands in the environment only, and no message shows a value', () => {
  const sasl = { mechanism: 'plain', username: 'u', password: 'hunter2' };
  const refused = () => read(kafka({ sasl }));
  expect(refused).toThrow('connectors[0].kafka.sasl.password: must name a variable, as { env: NAME }');
  expect(refused).not.toThrow('hunter2');
});

test('the id of an organization may stand in capitals', () => {
  const capitals = ORGANIZATION.replace('0189', 'ABCD').toUpperCase();
  expect(read(kafka({}, { organization: capitals }))).toMatchObject([{ organizationId: capitals.toLowerCase() }]);
  const entry = { code: 'stream', kafka: { brokers: ['a:1'], topics: ['calls'] } };
  const both = [capitals, capitals.toLowerCase()].map((organization) => ({ ...entry, organization }));
  expect(() => read(JSON.stringify({ connectors: both }))).toThrow('connectors[1].code: is that of connectors[0]');
});

test('codes are unique in an organization, and a group is read by one connector', () => {
  const entry = { code: 'stream', organization: ORGANIZATION, kafka: { brokers: ['a:1'], topics: ['calls'] } };
  const twice = (changes: object) => read(JSON.stringify({ connectors: [entry, { ...entry, ...changes }] }));
  expect(() => twice({})).toThrow('connectors[1].code: is that of connectors[0]');
  expect(() => twice({ code: 'other' })).toThrow('connectors[1].kafka.group: is that of connectors[0]');
  expect(twice({ code: 'other', kafka: { ...entry.kafka, group: 'other' } })).toHaveLength(2);
  expect(twice({ organization: ORGANIZATION.replace('0000-7', '0001-7') })).toHaveLength(2);
});

test('every problem is named at once', () => {
  expect(() => read(kafka({ brokers: [], topics: ['a b'], start: 'now' }))).toThrow(
    /brokers: must not be empty; .*topics\[0\]: must be letters.*; .*start: must be one of earliest, latest/,
  );
});

test('the group that is not named begins with the prefix of the wire', () => {
  const entry = { code: 'stream', organization: ORGANIZATION, kafka: { brokers: ['a:1'], topics: ['calls'] } };
  const named = (group: string) => ({ ...entry, code: 'other', kafka: { ...entry.kafka, group } });
  const both = (group: string, prefix: string) =>
    read(JSON.stringify({ connectors: [entry, named(`${group}-ingest-${ORGANIZATION}`)] }), {}, prefix);
  for (const prefix of ['svc', 'lago'])
    expect(() => both(prefix, prefix)).toThrow('connectors[1].kafka.group: is that of connectors[0]');
  expect(both('svc', 'lago')).toHaveLength(2);
});
