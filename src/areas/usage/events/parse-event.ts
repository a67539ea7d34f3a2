import { hash } from 'node:crypto';
import { isKeptNumber } from '../../../engine/metrics/property-text.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { newId } from '../../../platform/ids.ts';
import type { FieldErrors } from '../../../platform/refusal.ts';
import { FORMAT, INVALID, MANDATORY, OUT_OF_RANGE, TOO_LONG } from '../../../platform/schema/fields.ts';
import { KEY_MAX_BYTES } from '../../../platform/schema/sizes.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { IncomingEvent } from './incoming-event.ts';
import { canonicalText, NotStorable, TooLong } from './property-json.ts';
import { readTimestamp } from './timestamps.ts';

/** Canonical JSON text of an object, of at most so many characters. @throws NotStorable, TooLong */
type WriteProperties = (properties: object, most: number) => string;

export type ParsedEvent = { ok: true; event: IncomingEvent } | { ok: false; errors: FieldErrors };

/** Integer and fractional digits of numeric(40, 15). */
const AMOUNT_INTEGER_DIGITS = 25;
const AMOUNT_FRACTION_DIGITS = 15;
const AMOUNT = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

/**
 * How many characters the properties of one event may have in their canonical form, which is the one stored: as many as
 * a body of one event has. Only numbers with an exponent grow: a thousand of `1e-300` are 7 KB as sent and 0.3 MB as
 * stored.
 */
const PROPERTIES_MAX = 1024 * 1024;

/** The amount of an event without one. */
const NO_AMOUNT = { text: null, asSent: 'null' };

/**
 * Checks one event as it was sent and gives it an id: checks 2, 4 and 5 of events.md#order-of-checks and the limits of
 * events.md#fields, all errors together. Unknown keys are ignored; a missing subscription is "". Plain checks, since
 * this runs for every event of the busiest route.
 *
 * most   characters of the canonical properties
 * write  makes this text of properties that are an object, for a door that adds some of its own
 */
export function parseEvent(
  input: unknown,
  { most = PROPERTIES_MAX, write = canonicalText }: { most?: number; write?: WriteProperties } = {},
): ParsedEvent {
  const sent = (isObject(input) ? input : {}) as Record<string, unknown>;
  const errors: FieldErrors = {};
  const timestamp = timestampOf(sent.timestamp, errors);
  const transactionId = keyOf('transaction_id', sent.transaction_id, { mandatory: true, errors });
  const code = keyOf('code', sent.code, { mandatory: true, errors });
  const subscription = keyOf('external_subscription_id', sent.external_subscription_id, { mandatory: false, errors });
  const amount = amountOf(sent.precise_total_amount_cents, errors);
  const properties = propertiesOf(sent.properties, { most, write }, errors);
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  const digested = `{"code":${JSON.stringify(code)},"precise_total_amount_cents":${amount.asSent},"properties":${properties}}`;
  return {
    ok: true,
    event: {
      id: newId(),
      transaction_id: transactionId,
      external_subscription_id: subscription,
      code,
      timestamp,
      properties,
      precise_total_amount_cents: amount.text,
      digest: hash('sha256', digested, 'hex').slice(0, 32),
    },
  };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Text of a scalar that may stand for a text or number; undefined for anything else. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? canonicalText(value) : undefined;
  if (isKeptNumber(value)) return value.value;
  return undefined;
}

function timestampOf(value: unknown, errors: FieldErrors): string | null {
  if (value === undefined || value === null) return null;
  const text = scalarText(value);
  const timestamp = text === undefined ? undefined : readTimestamp(text);
  if (timestamp === undefined) errors.timestamp = [FORMAT];
  return timestamp ?? null;
}

function keyOf(
  field: string,
  value: unknown,
  { mandatory, errors }: { mandatory: boolean; errors: FieldErrors },
): string {
  if (value === undefined || value === null || value === '') {
    if (mandatory) errors[field] = [MANDATORY];
    return '';
  }
  const text = scalarText(value);
  if (text === undefined) errors[field] = [typeof value === 'number' ? FORMAT : INVALID];
  else if (mandatory && text.trim() === '') errors[field] = [MANDATORY];
  else if (text.length * 3 > KEY_MAX_BYTES && Buffer.byteLength(text) > KEY_MAX_BYTES) errors[field] = [TOO_LONG];
  else if (!isStorable(text)) errors[field] = [FORMAT];
  return text ?? '';
}

function propertiesOf(
  value: unknown,
  { most, write }: { most: number; write: WriteProperties },
  errors: FieldErrors,
): string {
  // Some languages write an empty map as an empty list.
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return '{}';
  if (!isObject(value) || isKeptNumber(value)) {
    errors.properties = [INVALID];
    return '{}';
  }
  try {
    return write(value, most);
  } catch (error) {
    if (!(error instanceof NotStorable || error instanceof TooLong)) throw error;
    errors.properties = [error instanceof TooLong ? TOO_LONG : FORMAT];
    return '{}';
  }
}

/** `text`: as stored, rounded to 15 digits. `asSent`: canonical JSON, in which 1 and "1" differ. */
function amountOf(value: unknown, errors: FieldErrors): { text: string | null; asSent: string } {
  if (value === undefined || value === null) return NO_AMOUNT;
  const field = 'precise_total_amount_cents';
  const text = scalarText(value)?.trim();
  if (text === undefined || !AMOUNT.test(text)) {
    errors[field] = [typeof value === 'number' ? FORMAT : INVALID];
    return NO_AMOUNT;
  }
  const amount = decimal(text).toDecimalPlaces(AMOUNT_FRACTION_DIGITS);
  if (amount.abs().gte(`1e${AMOUNT_INTEGER_DIGITS}`)) {
    errors[field] = [OUT_OF_RANGE];
    return NO_AMOUNT;
  }
  try {
    return { text: amount.toFixed(), asSent: typeof value === 'string' ? JSON.stringify(value) : canonicalText(value) };
  } catch (error) {
    if (!(error instanceof NotStorable)) throw error;
    errors[field] = [FORMAT];
    return NO_AMOUNT;
  }
}
