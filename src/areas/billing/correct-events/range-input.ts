import { Temporal } from 'temporal-polyfill';
import type { EventRange } from '../../usage/event-corrections/lock-events.ts';
import type { CorrectionCreate } from '../../usage/event-corrections/schema.ts';

/** The range of a request; both ends are inclusive, in the milliseconds that events show. */
export function rangeOf(body: CorrectionCreate): EventRange {
  const last = Temporal.Instant.from(body.timestamp_to!);
  return {
    external_subscription_id: body.external_subscription_id,
    code: body.code ?? null,
    from: body.timestamp_from!,
    to: last.round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }).add({ milliseconds: 1 }).toString(),
    properties: body.properties ?? null,
  };
}

const INPUTS = [
  'code',
  'timestamp',
  'precise_total_amount_cents',
  'timestamp_from',
  'timestamp_to',
  'expected_count',
] as const;

/** Parts of the request that have no column, as they are shown. */
export const inputOf = (body: CorrectionCreate): Record<string, unknown> => ({
  ...Object.fromEntries(INPUTS.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]]))),
  ...(body.properties === undefined ? {} : { properties: JSON.parse(body.properties) }),
});
