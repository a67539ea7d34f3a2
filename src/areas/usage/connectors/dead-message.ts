import type { FieldErrors } from '../../../platform/refusal.ts';
import { storableText } from '../../../platform/schema/storable.ts';

/** Why a message, or an event in one, cannot become a stored event. Rule: streams.md#dead-letters. */
export type DeadCode =
  | 'invalid_json'
  | 'invalid_event'
  | 'value_is_mandatory'
  | 'invalid_timestamp'
  | 'organization_mismatch'
  | 'payload_too_large'
  | 'unsupported_format'
  | 'value_already_exist';

/** A message that is put aside. */
export interface DeadMessage {
  code: DeadCode;
  /** What is wrong, for people: fields with their codes, no values. */
  message: string;
  /** The message, or of an envelope with several events the event alone; its first 256 KiB. */
  payload: Uint8Array;
  /** Whether the payload was cut, so that it cannot be tried again as it is. */
  isCut: boolean;
}

const PAYLOAD_MAX_BYTES = 256 * 1024;
const MESSAGE_MAX = 1000;

export const deadMessage = (code: DeadCode, message: string, payload: Uint8Array): DeadMessage => ({
  code,
  message: storableText(message.slice(0, MESSAGE_MAX)),
  payload: payload.subarray(0, PAYLOAD_MAX_BYTES),
  isCut: payload.length > PAYLOAD_MAX_BYTES,
});

/** The same for an event with wrong fields. */
export function deadOfErrors(errors: FieldErrors, payload: Uint8Array): DeadMessage {
  const told = Object.entries(errors).map(([field, codes]) => `${field}: ${[codes].flat().join(', ')}`);
  return deadMessage(codeOf(errors), told.join('; '), payload);
}

/** The code of the first kind that is there: something missing, the time, anything else. */
function codeOf(errors: FieldErrors): DeadCode {
  if (Object.values(errors).some((codes) => [codes].flat().includes('value_is_mandatory'))) return 'value_is_mandatory';
  return errors.timestamp || errors.time ? 'invalid_timestamp' : 'invalid_event';
}
