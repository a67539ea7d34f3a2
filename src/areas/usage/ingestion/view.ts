import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { ConnectorRow, DeadLetterRow, WholeDeadLetter } from './queries.ts';
import type { ConnectorView, DeadLetterView } from './schema.ts';

export const connectorView = (row: ConnectorRow): ConnectorView => ({
  code: row.code,
  type: row.kind,
  status: row.status,
  error: row.error,
  processes: row.processes,
  messages_received: row.received,
  events_stored: row.stored,
  events_replayed: row.replayed,
  dead_letters: row.dead,
  lag_messages: row.lag_messages,
  lag_seconds: row.lag_seconds,
  last_stored_at: secondsOrNull(row.last_stored_at),
  paused_at: secondsOrNull(row.paused_at),
  created_at: seconds(row.created_at),
});

export const deadLetterView = (row: DeadLetterRow): DeadLetterView => ({
  svc_id: row.id,
  connector: row.connector,
  position: row.position,
  event_number: row.part + 1,
  error_code: row.error_code,
  error_message: row.error_message,
  attempts: row.attempts,
  status: row.status,
  is_cut: row.is_cut,
  source_time: seconds(row.source_time),
  failed_at: seconds(row.failed_at),
  resolved_at: secondsOrNull(row.resolved_at),
});

export function wholeDeadLetterView(row: WholeDeadLetter) {
  const payload = textOf(row.payload);
  const payload_base64 = payload === null ? Buffer.from(row.payload).toString('base64') : null;
  return { dead_letter: { ...deadLetterView(row), payload, payload_base64 } };
}

/** Null if the bytes are no UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
