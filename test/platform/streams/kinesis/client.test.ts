import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { IteratorExpired, openStream, Throttled } from '../../../../src/platform/streams/kinesis/client.ts';
import { kinesisSettings } from '../../../../src/platform/streams/kinesis/settings.ts';
import { SourceTrouble } from '../../../../src/platform/streams/source.ts';

// What the service refuses; the server of the other tests lets everybody do everything.

/** A stream at a server that answers each operation as it is told, others with nothing in them. */
async function open(answers: Record<string, { status: number; body: object }>) {
  const server = createServer((request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1]!;
    const about = { StreamDescriptionSummary: { StreamCreationTimestamp: 1_764_000_000 } };
    const { status, body } = answers[operation] ?? {
      status: 200,
      body: operation === 'DescribeStreamSummary' ? about : {},
    };
    request.resume();
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const settings = kinesisSettings({ SECRET: 'hunter2' }).parse({
    stream: 'usage',
    region: 'eu-west-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { access_key_id: 'any', secret_access_key: { env: 'SECRET' } },
  });
  const stream = await openStream(settings, new AbortController().signal);
  onTestFinished(() => stream.close());
  return stream;
}
const refusal = (type: string) => ({ status: 400, body: { __type: type, message: 'hunter2' } });

test.each([
  ['wrong credentials', 'UnrecognizedClientException', 'the stream usage cannot be read: UnrecognizedClientException'],
  ['a wrong secret', 'InvalidSignatureException', 'the stream usage cannot be read: InvalidSignatureException'],
  ['a missing right', 'AccessDeniedException', 'the stream usage cannot be read: AccessDeniedException'],
  ['a missing stream', 'ResourceNotFoundException', 'the stream usage is missing'],
])('%s is named without the secret', async (_, type, expected) => {
  const opened = open({ DescribeStreamSummary: refusal(type) });
  await expect(opened).rejects.toThrow(new SourceTrouble(expected));
});

test('a refusal for the number of requests, and an iterator that has expired, are no trouble of the stream', async () => {
  const throttled = await open({ GetRecords: refusal('ProvisionedThroughputExceededException') });
  await expect(throttled.records('i')).rejects.toBeInstanceOf(Throttled);
  const expired = await open({ GetRecords: refusal('ExpiredIteratorException') });
  await expect(expired.records('i')).rejects.toBeInstanceOf(IteratorExpired);
});

test('a stream is named with the instant at which it was made', async () => {
  expect((await open({})).id).toBe('usage@1764000000000');
});
