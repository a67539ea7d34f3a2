import type { Sql } from '../../../src/platform/db/connect.ts';
import type { Client } from '../../support/client.ts';
import { until } from '../../support/until.ts';
import { ok, wordsOf } from '../../support/words.ts';

/** How much a change of the price book has to do. */
export interface BookSize {
  /** Calls that wait for the price of one model, and of how many subscriptions in turn. */
  calls: number;
  subscriptions: number;
  /** Models of an imported file. */
  models: number;
}

export interface BookSpeed {
  /** Calls that got their amounts in a second, from the request that brought the price to the last of them. */
  healedPerSecond: number;
  importMs: number;
}

export const FULL_BOOK: BookSize = { calls: 20_000, subscriptions: 40, models: 3000 };

const BATCH = 100;
const SENDERS = 8;
const LOOK_EVERY_MS = 50;
const WITHIN_MS = 300_000;
const MODEL = 'healed';

/** How fast calls get the amounts that they lacked, and a published price file is imported. */
export async function measureBook(
  { sql, client, organizationId }: { sql: Sql; client: Client; organizationId: string },
  size: BookSize,
): Promise<BookSpeed> {
  await sellTo(client, size.subscriptions);
  await sendCalls(client, size);
  await until(async () => {
    const { unknown_models: models } = await ok(client.get('/price_book/unknown'));
    return models.some((each: { model: string; events: number }) => each.model === MODEL && each.events === size.calls);
  }, WITHIN_MS);
  const started = performance.now();
  const entry = { provider: 'openai', model: MODEL, cost: '1', valid_from: '2020-01-01T00:00:00Z' };
  await ok(client.post('/price_book/entries', { entries: ['input', 'output'].map((kind) => ({ ...entry, kind })) }));
  await until(
    async () => {
      const [row] = await sql<{ waits: boolean }[]>`
        select exists (
          select from ai_unpriced
          where organization_id = ${organizationId} and provider = 'openai' and model = ${MODEL} and status = 'open'
            and reason = 'price') as waits`;
      return !row!.waits;
    },
    WITHIN_MS,
    LOOK_EVERY_MS,
  );
  const healedPerSecond = size.calls / ((performance.now() - started) / 1000);
  return { healedPerSecond, importMs: await importFile(client, size.models) };
}

/** A plan that bills calls by their amounts, and so many customers of it. */
async function sellTo(client: Client, subscriptions: number): Promise<void> {
  const { setup } = await ok(client.post('/ai/setup', { setup: {} }));
  const charge = {
    billable_metric_id: setup.billable_metrics[0].svc_id,
    charge_model: 'dynamic',
    properties: {},
  };
  await wordsOf(client).plan({ code: 'healing', amount_cents: 0, charges: [charge] });
  for (let index = 0; index < subscriptions; index += 1) {
    const name = `heal-${index}`;
    await ok(client.post('/customers', { customer: { external_id: name, currency: 'EUR' } }));
    await ok(
      client.post('/subscriptions', {
        subscription: { external_customer_id: name, plan_code: 'healing', external_id: name },
      }),
    );
  }
}

/** Calls of one model without a price. */
async function sendCalls(client: Client, { calls, subscriptions }: BookSize): Promise<void> {
  const starts = Array.from({ length: calls / BATCH }, (_, index) => index * BATCH).values();
  const callOf = (number: number) => ({
    transaction_id: `${MODEL}-${number}`,
    external_subscription_id: `heal-${number % subscriptions}`,
    provider: 'openai',
    model: MODEL,
    parts: { input: 1000 + (number % BATCH), output: 500 },
  });
  const sender = async () => {
    for (const start of starts)
      await ok(
        client.post('/ai/usage/batch', {
          ai_usages: Array.from({ length: BATCH }, (_, index) => callOf(start + index)),
        }),
      );
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

/** A file of LiteLLM with five prices a model. */
async function importFile(client: Client, models: number): Promise<number> {
  const file = Object.fromEntries(
    Array.from({ length: models }, (_, index) => [
      `imported-${index}`,
      {
        litellm_provider: 'openai',
        input_cost_per_token: 0.000003,
        output_cost_per_token: 0.000015,
        cache_read_input_token_cost: 0.0000003,
        cache_creation_input_token_cost: 0.00000375,
        input_cost_per_token_above_200k_tokens: 0.000006,
      },
    ]),
  );
  const started = performance.now();
  const { import: imported } = await ok(client.post('/price_book/import?source=litellm', file));
  const took = performance.now() - started;
  if (imported.models !== models) throw new Error(`imported ${imported.models} models`);
  return took;
}
