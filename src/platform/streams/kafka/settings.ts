import { z } from 'zod';
import { fileSetting, secretSetting } from '../settings.ts';

const LONGEST_NAME = 249;
/** What brokers take unless they are set otherwise. */
const SHORTEST_SESSION = 6;
const LONGEST_SESSION = 1800;
const topic = z
  .string()
  .max(LONGEST_NAME)
  .regex(/^[\w.-]+$/, 'must be letters, digits, dots, dashes and underscores');

/** How a Kafka cluster is reached, and what is read there. Rule: streams.md#kafka. */
export const kafkaSettings = (environment: NodeJS.ProcessEnv) =>
  z.strictObject({
    brokers: z.array(z.string().regex(/^[^\s:/]+:\d+$|^\[[^\]]+\]:\d+$/, 'must be host:port')).min(1),
    topics: z.array(topic).min(1),
    /** Default `<prefix>-ingest-<organization>`. */
    group: z.string().min(1).max(LONGEST_NAME).optional(),
    client_id: z.string().min(1).max(LONGEST_NAME).default('meterstone'),
    tls: z
      .union([
        z.boolean(),
        z.strictObject({
          ca_file: fileSetting().optional(),
          certificate_file: fileSetting().optional(),
          key_file: fileSetting().optional(),
          server_name: z.string().min(1).optional(),
        }),
      ])
      .default(false),
    sasl: z
      .strictObject({
        mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']),
        username: z.union([z.string().min(1), secretSetting(environment)]),
        password: secretSetting(environment),
      })
      .optional(),
    /** Where a group begins that has read nothing yet. */
    start: z.enum(['earliest', 'latest']).default('earliest'),
    /** After which silence the group gives the partitions of a process to others. */
    session_timeout_seconds: z.int().min(SHORTEST_SESSION).max(LONGEST_SESSION).default(30),
    /** Whether what is put aside is also written to `<topic>.dlq`. */
    dead_letter_topics: z.boolean().default(false),
  });

export type KafkaSettings = z.output<ReturnType<typeof kafkaSettings>>;
