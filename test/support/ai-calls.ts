import type { IncomingBatch } from '../../src/areas/usage/events/incoming-event.ts';
import { finishOpenBatches } from '../../src/areas/usage/ingest-events/finish-batches.ts';
import type { Sql } from '../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../src/platform/ids.ts';
import { incoming } from '../areas/usage/ingest-events/build.ts';
import { until } from './until.ts';

/** A call of a model, as a door makes an event of it; what is not given is one of `openai`, `alpha`. */
export interface Call {
  id: string;
  model?: string;
  provider?: string;
  tier?: string;
  /** Parts by their properties, such as `tokens_input`. */
  parts: Record<string, number | string>;
  input_tokens?: number;
  flags?: string;
  /** Properties that the sender added. */
  properties?: Record<string, string>;
  at?: string;
  by?: string;
  code?: string;
  mark?: { reported_cost?: string; served_from_cache?: true; is_priced_by_plan?: true };
}

/** Calls as one batch of events that the storing side has to rate. */
export function calls(organizationId: string, given: readonly Call[], changes: Partial<IncomingBatch> = {}) {
  const batch = incoming(
    organizationId,
    given.map(({ id, model = 'alpha', provider = 'openai', tier = 'standard', parts, flags, ...call }) => ({
      transaction_id: id,
      code: call.code ?? 'ai_usage',
      external_subscription_id: call.by ?? 'sub',
      timestamp: String(Date.parse(call.at ?? '2024-03-10T11:00:00Z') / 1000),
      properties: {
        provider,
        model,
        tier,
        calls: '1',
        tokens: String(Object.values(parts).reduce((sum: number, part) => sum + Number(part), 0)),
        ...Object.fromEntries(Object.entries(parts).map(([name, quantity]) => [name, String(quantity)])),
        ...(call.input_tokens === undefined ? {} : { input_tokens: String(call.input_tokens) }),
        ai_format: 'canonical/1',
        ...call.properties,
        ...(flags === undefined ? {} : { ai_flags: flags }),
      },
    })),
    { atomic: false, ...changes },
  );
  return { ...batch, events: batch.events.map((event, index) => ({ ...event, ai: given[index]!.mark ?? {} })) };
}

/** Finishes the batches of an organization, once nothing of it is being matched again. */
export const finishAll = (db: Sql, organizationId: string) =>
  until(async () => {
    await finishOpenBatches({ db, organizationId: organizationId as OrganizationId });
    return true;
  });
