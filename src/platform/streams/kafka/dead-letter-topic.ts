import type { Kafka, Message, Producer } from 'kafkajs';
import type { Log } from '../../log/log.ts';
import type { PutAside } from '../source.ts';
import { troubleOf } from './client.ts';
import type { KafkaSettings } from './settings.ts';

/** Puts what is put aside into the topic `<topic>.dlq`, for those who look there. The table is the truth. */
export interface DeadLetterTopic {
  write(putAside: readonly PutAside[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * A failure is logged and nothing waits for it: what was put aside is stored already.
 * Rule: streams.md#kafka.
 */
export function openDeadLetterTopic(kafka: Kafka, settings: KafkaSettings, log: Log): DeadLetterTopic {
  const producer: Producer = kafka.producer({ allowAutoTopicCreation: true });
  let connected: Promise<void> | undefined;
  return {
    async write(putAside) {
      if (putAside.length === 0) return;
      try {
        connected ??= producer.connect();
        await connected;
        for (const some of requestsOf(putAside)) await producer.sendBatch({ topicMessages: topicMessagesOf(some) });
      } catch (error) {
        connected = undefined;
        // What the library says has the broker's answer in it, which may repeat a secret.
        const { message } = troubleOf(error, settings);
        log.warn({ error: message, messages: putAside.length }, 'the dead letter topic was not written');
      }
    },
    close: async () => (connected ? producer.disconnect() : undefined),
  };
}

/** How many bytes of values one request may hold, of the MiB that brokers take; a longer value goes alone. */
const REQUEST_BYTES = 512 * 1024;
const KEPT_BYTES = 256 * 1024;

/** Brokers refuse a request that is too large with all that it holds. */
export function requestsOf(putAside: readonly PutAside[]): PutAside[][] {
  const requests: PutAside[][] = [];
  let left = 0;
  for (const each of putAside) {
    const length = keptOf(each).length;
    if (requests.length === 0 || length > left) {
      requests.push([]);
      left = REQUEST_BYTES;
    }
    requests.at(-1)!.push(each);
    left -= length;
  }
  return requests;
}

/** As much as the dead letter keeps of a message that no broker would take there. */
const keptOf = ({ message: { bytes } }: PutAside): Uint8Array =>
  bytes === null ? new Uint8Array() : bytes.length > REQUEST_BYTES ? bytes.subarray(0, KEPT_BYTES) : bytes;

export function topicMessagesOf(putAside: readonly PutAside[]): { topic: string; messages: Message[] }[] {
  const byTopic = new Map<string, Message[]>();
  for (const each of putAside) {
    const { message, reasons } = each;
    const [topic, partition, offset] = message.position.split('/') as [string, string, string];
    const messages = byTopic.get(`${topic}.dlq`) ?? [];
    messages.push({
      value: Buffer.from(keptOf(each)),
      headers: {
        ...message.headers,
        'error-code': reasons[0]!.code,
        'error-message': reasons.map((reason) => reason.message).join('; '),
        'original-topic': topic,
        'original-partition': partition,
        'original-offset': offset,
      },
    });
    byTopic.set(`${topic}.dlq`, messages);
  }
  return [...byTopic].map(([topic, messages]) => ({ topic, messages }));
}
