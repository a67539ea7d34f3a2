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

const read = (text: string, environment: Record<string, string> = {}) => {
  const path = join(folder, 'connectors.yaml');
  writeFileSync(path, text);
  return readConnectorsFile(path, environment);
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
  ['no list', 'connectors: 7', 'connectors: must be array'],
  ['something else', '- 7', 'the file: must be object'],
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
    'connectors[0].kafka.tls: ca_file must be the path',
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
