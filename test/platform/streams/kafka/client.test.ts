import { expect, test } from 'vitest';
import { troubleOf } from '../../../../src/platform/streams/kafka/client.ts';
import { kafkaSettings } from '../../../../src/platform/streams/kafka/settings.ts';
import { ServiceTrouble } from '../../../../src/platform/streams/source.ts';

const settings = kafkaSettings({ PASSWORD: 'hunter2' }).parse({
  brokers: ['a:9092', 'b:9092'],
  topics: ['calls'],
  sasl: { mechanism: 'scram-sha-512', username: 'meterstone', password: { env: 'PASSWORD' } },
});
const failure = (fields: object, cause?: unknown) => Object.assign(new Error('of the library', { cause }), fields);

test.each([
  [
    'wrong credentials',
    failure({ name: 'KafkaJSSASLAuthenticationError', message: 'SASL SCRAM failed: hunter2' }),
    'the brokers refuse the credentials of sasl (scram-sha-512)',
  ],
  [
    'wrong credentials, as the cause of another failure',
    failure({ name: 'KafkaJSNonRetriableError' }, failure({ type: 'SASL_AUTHENTICATION_FAILED' })),
    'the brokers refuse the credentials of sasl (scram-sha-512)',
  ],
  [
    'no right to the group',
    failure({ type: 'GROUP_AUTHORIZATION_FAILED' }),
    'the brokers do not let this user read in the group',
  ],
  [
    'no right to a topic',
    failure({ type: 'TOPIC_AUTHORIZATION_FAILED' }),
    'the brokers do not let this user read the topics',
  ],
  [
    'brokers that are away',
    failure({ name: 'KafkaJSConnectionClosedError' }),
    'the brokers cannot be reached: a:9092, b:9092',
  ],
  [
    'a certificate that nobody trusts',
    failure(
      { name: 'KafkaJSNumberOfRetriesExceeded' },
      failure({ name: 'KafkaJSConnectionError', code: 'CERT_HAS_EXPIRED' }),
    ),
    'the brokers cannot be reached: a:9092, b:9092 (CERT_HAS_EXPIRED)',
  ],
  [
    'brokers that are silent',
    failure({ name: 'KafkaJSRequestTimeoutError' }),
    'the brokers do not answer: a:9092, b:9092',
  ],
])('%s is named without the secret', (_, error, expected) => {
  expect(troubleOf(error, settings).message).toBe(expected);
});

test.each([
  ['as it was thrown', (trouble: Error) => trouble],
  [
    'when the library has tried often enough',
    (trouble: Error) => failure({ name: 'KafkaJSNumberOfRetriesExceeded' }, trouble),
  ],
])('trouble of the service is none of the brokers, although it looks like it: %s', (_, passed) => {
  const trouble = new ServiceTrouble(failure({ name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' }));
  expect(troubleOf(passed(trouble), settings)).toBe(trouble);
});
