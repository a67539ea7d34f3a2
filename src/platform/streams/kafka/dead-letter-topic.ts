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
        await producer.sendBatch({ topicMessages: topicMessagesOf(putAside) });
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

function topicMessagesOf(putAside: readonly PutAside[]): { topic: string; messages: Message[] }[] {
  const byTopic = new Map<string, Message[]>();
  for (const { message, reasons } of putAside) {
    const [topic, partition, offset] = message.position.split('/') as [string, string, string];
    const messages = byTopic.get(`${topic}.dlq`) ?? [];
    messages.push({
      value: Buffer.from(message.bytes ?? []),
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
