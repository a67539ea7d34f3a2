import { reasonOf } from '../sdk-errors.ts';
import { SourceTrouble } from '../source.ts';
import type { S3Settings } from './settings.ts';

const CONNECT_MS = 5000;
/** Without a byte for so long a request fails; one for messages is answered within 20 s. */
const SILENT_MS = 60_000;
const WAIT_SECONDS = 20;
/** How many messages one request may bring, and how long others do not see them. */
const MOST_MESSAGES = 10;
export const HIDDEN_SECONDS = 60;

/** A message of a queue, which comes again unless it is deleted. */
export interface QueueMessage {
  id: string;
  body: string;
  receipt: string;
  /** How often it was received, with this time. */
  receives: number;
}

export interface Queue {
  /** Waits up to 20 s for messages. */
  receive(): Promise<QueueMessage[]>;
  /** Others see a message after so many seconds. One that comes again already is left. */
  hide(message: QueueMessage, seconds: number): Promise<void>;
  delete(message: QueueMessage): Promise<void>;
  close(): void;
}

/** `https://sqs.eu-west-1.amazonaws.com/…` → `eu-west-1` */
const regionIn = (url: string): string | undefined => /^https:\/\/sqs\.([\w-]+)\./.exec(url)?.[1];

/** The queue of the settings; the SDK, an optional dependency, is loaded here. */
export async function openQueue(settings: S3Settings & { queue_url: string }, signal: AbortSignal): Promise<Queue> {
  const { queue_url: url, credentials: keys, profile } = settings;
  const sdk = await import('@aws-sdk/client-sqs').catch((cause: unknown) => {
    throw new SourceTrouble('needs the package @aws-sdk/client-sqs, which was left out: npm install', { cause });
  });
  const region = regionIn(url) ?? settings.region;
  const client = new sdk.SQSClient({
    ...(region === undefined ? {} : { region }),
    endpoint: new URL(url).origin,
    ...(profile === undefined ? {} : { profile }),
    ...(keys ? { credentials: { accessKeyId: keys.access_key_id, secretAccessKey: keys.secret_access_key } } : {}),
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: SILENT_MS, throwOnRequestTimeout: true },
  });
  const options = { abortSignal: signal };
  const trouble = (error: unknown) =>
    new SourceTrouble(`the queue ${url} cannot be read: ${reasonOf(error)}`, { cause: error });
  /** A receipt ends with the time for which its message is hidden; then it comes again, and its object was read. */
  const met = (error: unknown) => {
    if (!ENDED_RECEIPTS.has((error as Error).name)) throw trouble(error);
  };
  return {
    async receive() {
      const input = {
        QueueUrl: url,
        MaxNumberOfMessages: MOST_MESSAGES,
        WaitTimeSeconds: WAIT_SECONDS,
        VisibilityTimeout: HIDDEN_SECONDS,
        MessageSystemAttributeNames: ['ApproximateReceiveCount' as const],
      };
      const answer = await client.send(new sdk.ReceiveMessageCommand(input), options).catch((error: unknown) => {
        throw trouble(error);
      });
      return (answer.Messages ?? []).map(({ MessageId, Body, ReceiptHandle, Attributes }) => ({
        id: MessageId!,
        body: Body ?? '',
        receipt: ReceiptHandle!,
        receives: Number(Attributes?.ApproximateReceiveCount ?? 1),
      }));
    },
    async hide({ receipt }, seconds) {
      const input = { QueueUrl: url, ReceiptHandle: receipt, VisibilityTimeout: seconds };
      await client.send(new sdk.ChangeMessageVisibilityCommand(input)).catch(met);
    },
    async delete({ receipt }) {
      await client.send(new sdk.DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: receipt })).catch(met);
    },
    close: () => client.destroy(),
  };
}

const ENDED_RECEIPTS = new Set(['MessageNotInflight', 'ReceiptHandleIsInvalid', 'InvalidParameterValue']);
