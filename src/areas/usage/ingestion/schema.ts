import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';

export const CONNECTOR_STATUSES = ['starting', 'running', 'retrying', 'paused', 'stopped'] as const;
export const DEAD_LETTER_STATUSES = ['open', 'retried', 'discarded'] as const;

/** A payload is no longer than the body that carries it. */
const PAYLOAD_MAX = 1024 * 1024;
/** As in the properties of an event. */
const VALUES_MAX = 1000;

const Connector = z.object({
  code: z.string(),
  type: z.string(),
  status: z.enum(CONNECTOR_STATUSES),
  /** What is wrong, of a process that tries again. */
  error: z.string().nullable(),
  processes: z.int(),
  messages_received: z.int(),
  events_stored: z.int(),
  events_replayed: z.int(),
  dead_letters: z.int(),
  lag_messages: z.int().nullable(),
  lag_seconds: z.number().nullable(),
  last_stored_at: z.iso.datetime().nullable(),
  paused_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
});
export type ConnectorView = z.output<typeof Connector>;

export const ConnectorEnvelope = z.object({ connector: Connector });
export const ConnectorList = z.object({ connectors: z.array(Connector), meta: PageMeta });
export const ConnectorsQuery = z.object(pageQuery);
export type ConnectorsQuery = z.output<typeof ConnectorsQuery>;

const DeadLetter = z.object({
  svc_id: z.uuid(),
  connector: z.string(),
  position: z.string(),
  event_number: z.int(),
  error_code: z.string(),
  error_message: z.string(),
  attempts: z.int(),
  status: z.enum(DEAD_LETTER_STATUSES),
  is_cut: z.boolean(),
  source_time: z.iso.datetime(),
  failed_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().nullable(),
});
export type DeadLetterView = z.output<typeof DeadLetter>;

export const DeadLetterList = z.object({ dead_letters: z.array(DeadLetter), meta: PageMeta });
/** With what came; as text, or in base64 where it is none. */
export const DeadLetterEnvelope = z.object({
  dead_letter: DeadLetter.extend({ payload: z.string().nullable(), payload_base64: z.string().nullable() }),
});

/** `from` and `to` are of the time at which a message was put aside. */
export const DeadLettersQuery = z.object({
  ...pageQuery,
  connector: textFilter,
  statuses: listFilter,
  error_codes: listFilter,
  from: fromFilter,
  to: untilFilter,
});
export type DeadLettersQuery = z.output<typeof DeadLettersQuery>;

/** A corrected payload: the text of a message, or its JSON value. */
export const DeadLetterRetry = z.object({
  payload: anyValue({ max: VALUES_MAX, textMax: PAYLOAD_MAX }).optional(),
});
export type DeadLetterRetry = z.output<typeof DeadLetterRetry>;
