import type { ConnectionOptions } from 'node:tls';
import kafkajs, { type Kafka, type KafkaConfig, type SASLOptions } from 'kafkajs';
import type { Log } from '../../log/log.ts';
import { ServiceTrouble, SourceTrouble } from '../source.ts';
import { knowCodecs } from './codecs.ts';
import type { KafkaSettings } from './settings.ts';

const CONNECT_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 30_000;
/** Tries of the library for one request; who runs the source starts it anew after that. */
const RETRIES = 3;

knowCodecs();

/** The library's client. Its own lines are for who looks for a fault; what matters is thrown. */
export const kafkaClient = (settings: KafkaSettings, log: Log): Kafka =>
  new kafkajs.Kafka({
    clientId: settings.client_id,
    brokers: settings.brokers,
    ssl: tlsOf(settings.tls),
    ...(settings.sasl ? { sasl: settings.sasl as SASLOptions } : {}),
    connectionTimeout: CONNECT_WITHIN_MS,
    authenticationTimeout: CONNECT_WITHIN_MS,
    requestTimeout: ANSWER_WITHIN_MS,
    retry: { retries: RETRIES, restartOnFailure: async () => false },
    logLevel: kafkajs.logLevel.WARN,
    logCreator:
      () =>
      ({ log: line }) => {
        if (!hasSecret(line, settings)) log.debug({ kafka: line }, line.message);
      },
  } satisfies KafkaConfig);

/** The library writes down what a broker answers, which may repeat what it was sent. */
const hasSecret = (line: object, { sasl }: KafkaSettings): boolean =>
  sasl !== undefined && Object.values(line).some((value) => typeof value === 'string' && value.includes(sasl.password));

function tlsOf(tls: KafkaSettings['tls']): boolean | ConnectionOptions {
  if (typeof tls === 'boolean') return tls;
  return {
    ...(tls.ca_file === undefined ? {} : { ca: [tls.ca_file] }),
    ...(tls.certificate_file === undefined ? {} : { cert: tls.certificate_file }),
    ...(tls.key_file === undefined ? {} : { key: tls.key_file }),
    ...(tls.server_name === undefined ? {} : { servername: tls.server_name }),
  };
}

interface LibraryError extends Error {
  type?: string;
  code?: string | number;
  broker?: string;
  cause?: LibraryError;
}

/**
 * What an error of the library means, in words for an operator and without credentials; trouble of the service that
 * came through the library stays that.
 */
export function troubleOf(error: unknown, settings: KafkaSettings): SourceTrouble | ServiceTrouble {
  const chain: LibraryError[] = [];
  for (let each = error as LibraryError | undefined; each && chain.length < 5; each = each.cause) chain.push(each);
  const own = chain.find((each) => each instanceof SourceTrouble || each instanceof ServiceTrouble);
  if (own) return own;
  const names = chain.map(({ name }) => name);
  const types = chain.map(({ type }) => type);
  const brokers = settings.brokers.join(', ');
  if (names.includes('KafkaJSSASLAuthenticationError') || types.includes('SASL_AUTHENTICATION_FAILED'))
    return new SourceTrouble(`the brokers refuse the credentials of sasl (${settings.sasl?.mechanism})`);
  if (types.includes('GROUP_AUTHORIZATION_FAILED'))
    return new SourceTrouble('the brokers do not let this user read in the group');
  if (types.includes('TOPIC_AUTHORIZATION_FAILED'))
    return new SourceTrouble('the brokers do not let this user read the topics');
  if (names.includes('KafkaJSConnectionError') || names.includes('KafkaJSConnectionClosedError')) {
    // Such as ECONNREFUSED, or CERT_HAS_EXPIRED.
    const code = chain.map((each) => each.code).find((each) => typeof each === 'string');
    const why = code === undefined ? '' : ` (${code})`;
    return new SourceTrouble(`the brokers cannot be reached: ${brokers}${why}`, { cause: error });
  }
  if (names.includes('KafkaJSRequestTimeoutError'))
    return new SourceTrouble(`the brokers do not answer: ${brokers}`, { cause: error });
  return new SourceTrouble(chain.at(-1)?.message ?? String(error), { cause: error });
}

/** Errors after which the consumer joins its group again. */
const REBALANCE = new Set(['REBALANCE_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP', 'ILLEGAL_GENERATION']);

export const isRebalance = (error: unknown): boolean => REBALANCE.has((error as LibraryError).type ?? '');
