import { z } from 'zod';
import { numericValue } from '../../../engine/metrics/numeric-text.ts';
import { decimalText, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/operation.ts';
import { textJson } from './property-json.ts';
import { type EnrichedEvent, listEnrichedEvents } from './queries.ts';
import { readEventPage } from './reads.ts';
import { type EventListQuery, EventPageMeta } from './schema.ts';
import { amountJson } from './view.ts';

export const EnrichedEventList = z.object({
  events: z.array(
    z.object({
      transaction_id: z.string(),
      external_subscription_id: z.string(),
      code: z.string(),
      timestamp: z.iso.datetime(),
      enriched_at: z.iso.datetime(),
      value: z.string().nullable(),
      decimal_value: z.string(),
      precise_total_amount_cents: z.string().nullable(),
      properties: z.record(z.string(), z.any()),
    }),
  ),
  meta: EventPageMeta,
});

/**
 * Events with the value that their metric reads: filters, order and pages as in the list of events. At most six
 * statements.
 *
 * @throws Refusal 422 as the list of events
 * Rule: other-routes.md "GET /events_enriched".
 */
export async function showEnrichedEvents(ctx: Context, { query }: { query: EventListQuery }): Promise<Answer> {
  const { rows, meta } = await readEventPage(ctx, query, listEnrichedEvents);
  return new Answer(null, { json: `{"events":[${rows.map(enrichedText).join(',')}],"meta":${JSON.stringify(meta)}}` });
}

const millisecondsJson = (isoText: string): string => `"${isoText.slice(0, 23)}Z"`;

const enrichedText = (event: EnrichedEvent): string =>
  `{"transaction_id":${textJson(event.transaction_id)},` +
  `"external_subscription_id":${textJson(event.external_subscription_id)},"code":${textJson(event.code)},` +
  `"timestamp":${millisecondsJson(event.timestamp)},"enriched_at":${millisecondsJson(event.created_at)},` +
  `"value":${event.value === null ? 'null' : textJson(event.value)},` +
  `"decimal_value":"${decimalText(numericValue(event.value) ?? ZERO)}",` +
  `"precise_total_amount_cents":${amountJson(event.precise_total_amount_cents)},"properties":${event.properties}}`;
