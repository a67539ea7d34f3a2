import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../../src/platform/log/log.ts';
import { kafkaClient } from '../../../../src/platform/streams/kafka/client.ts';
import { openDeadLetterTopic } from '../../../../src/platform/streams/kafka/dead-letter-topic.ts';
import { openKafka } from '../../../../src/platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../../../src/platform/streams/kafka/settings.ts';
import { type SourceHost, SourceTrouble } from '../../../../src/platform/streams/source.ts';

// No server of the tests knows credentials, so that here stands one that speaks the part of the protocol that comes
// before a client is let in, and lets nobody in.
const SECRET = 'hunter2-of-the-broker';
const SASL_HANDSHAKE = 17;
const API_VERSIONS = 18;
const SASL_AUTHENTICATE = 36;
const SASL_AUTHENTICATION_FAILED = 58;
/** SaslHandshake 1, so that the refusal comes as an answer; Metadata 1. */
const VERSIONS = [
  [3, 0, 1],
  [SASL_HANDSHAKE, 0, 1],
  [API_VERSIONS, 0, 0],
  [SASL_AUTHENTICATE, 0, 0],
];

const int16 = (value: number) => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string) => Buffer.concat([int16(value.length), Buffer.from(value)]);

function answerTo(apiKey: number, mechanism: string): Buffer {
  if (apiKey === API_VERSIONS)
    return Buffer.concat([int16(0), int32(VERSIONS.length), ...VERSIONS.flat().map((each) => int16(each))]);
  if (apiKey === SASL_HANDSHAKE) return Buffer.concat([int16(0), int32(1), text(mechanism)]);
  if (apiKey === SASL_AUTHENTICATE)
    return Buffer.concat([int16(SASL_AUTHENTICATION_FAILED), text(`no such user with ${SECRET}`), int32(0)]);
  throw new Error(`a client that was not let in asks for ${apiKey}`);
}

/** A broker that refuses everybody; what clients have sent as credentials. */
async function refusingBroker(mechanism: string) {
  const sent: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (part) => {
      received = Buffer.concat([received, part]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
        const request = received.subarray(4, 4 + received.readInt32BE(0));
        received = received.subarray(4 + request.length);
        const apiKey = request.readInt16BE(0);
        if (apiKey === SASL_AUTHENTICATE) sent.push(request.toString('latin1'));
        const answer = Buffer.concat([request.subarray(4, 8), answerTo(apiKey, mechanism)]);
        socket.write(Buffer.concat([int32(answer.length), answer]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
  'credentials of %s that the brokers refuse are named, and the secret stands in no line of the log',
  async (mechanism) => {
    const broker = await refusingBroker(mechanism.toUpperCase());
    const said: string[] = [];
    const log = createLog({ level: 'trace', process: 'test' }, {
      write: (line: string) => void said.push(line),
    } as never);
    const settings = kafkaSettings({ PASSWORD: SECRET }).parse({
      brokers: [broker.address],
      topics: ['calls'],
      sasl: { mechanism, username: 'meterstone', password: { env: 'PASSWORD' } },
    });
    const host = { signal: new AbortController().signal, log } as unknown as SourceHost;
    const error = await openKafka({ ...settings, group: 'g' })
      .run(host)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toEqual(new SourceTrouble(`the brokers refuse the credentials of sasl (${mechanism})`));
    expect(broker.sent.join()).toContain(mechanism === 'plain' ? `meterstone\0${SECRET}` : 'n=meterstone');
    log.warn({ error: (error as Error).message }, 'a stream is not read');
    expect(said.length).toBeGreaterThan(0);
    expect(said.join()).not.toContain(SECRET);
  },
);

test('a dead letter topic that refuses the credentials is named, and the secret stands in no line of the log', async () => {
  const broker = await refusingBroker('PLAIN');
  const said: string[] = [];
  const log = createLog({ level: 'trace', process: 'test' }, {
    write: (line: string) => void said.push(line),
  } as never);
  const settings = kafkaSettings({ PASSWORD: SECRET }).parse({
    brokers: [broker.address],
    topics: ['calls'],
    sasl: { mechanism: 'plain', username: 'meterstone', password: { env: 'PASSWORD' } },
  });
  const message = {
    position: 'calls/0/1',
    bytes: Buffer.from('no JSON'),
    sourceTime: '2026-03-10T00:00:00.000000Z',
    checkpoint: { key: 'calls/0', rank: '1', value: {} },
  };
  const deadLetters = openDeadLetterTopic(kafkaClient(settings, log), settings, log);
  await deadLetters.write([{ message, reasons: [{ code: 'invalid_json', message: 'a message is JSON' }] }]);
  const told = said.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  expect(told).toEqual([
    expect.objectContaining({
      msg: 'the dead letter topic was not written',
      error: 'the brokers refuse the credentials of sasl (plain)',
    }),
  ]);
  expect(said.join()).not.toContain(SECRET);
});
