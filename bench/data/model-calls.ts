import type { ApiClient } from './client.ts';

/**
 * Calls of language models and, as the baseline, the same calls as the plain events that they become. A call is a
 * function of its number.
 */
const SUBSCRIPTIONS = 10;
const MODELS = ['alpha', 'beta', 'gamma'] as const;
const AGENTS = ['planner', 'writer', 'checker', 'coder'] as const;
/** Months before the bench begins: prices are in force whenever it runs. */
const PRICED_SINCE = '2020-01-01T00:00:00Z';

export const subscriptionOfCall = (number: number): string => `calls-${number % SUBSCRIPTIONS}`;

interface Call {
  id: string;
  subscription: string;
  model: string;
  agent: string;
  user: string;
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

/** @param label distinguishes the calls of two rounds */
function callOf(label: string, number: number): Call {
  const mixed = Math.imul(number + 1, 0x9e3779b1) >>> 8;
  const input = 500 + (mixed % 6000);
  const output = 20 + (mixed % 1500);
  return {
    id: `chatcmpl-${mixed.toString(16)}-${label}-${number}`,
    subscription: subscriptionOfCall(number),
    model: MODELS[number % MODELS.length]!,
    agent: AGENTS[mixed % AGENTS.length]!,
    user: `user-${mixed % 50}`,
    input,
    cached: (mixed >>> 3) % input,
    output,
    reasoning: (mixed >>> 5) % output,
  };
}

/** JSON of a request to `/ai/usage/batch`: bodies of the provider's answers, a text of the model in each. */
export const usagesBody = (label: string, first: number, count: number): string =>
  JSON.stringify({
    ai_usages: Array.from({ length: count }, (_, index) => {
      const { id, subscription, model, agent, user, ...tokens } = callOf(label, first + index);
      return {
        external_subscription_id: subscription,
        properties: { agent, user },
        body: {
          id,
          object: 'chat.completion',
          created: 1_780_000_000,
          model,
          service_tier: 'default',
          choices: [
            { index: 0, message: { role: 'assistant', content: 'An answer of a model.' }, finish_reason: 'stop' },
          ],
          usage: {
            prompt_tokens: tokens.input,
            completion_tokens: tokens.output,
            total_tokens: tokens.input + tokens.output,
            prompt_tokens_details: { cached_tokens: tokens.cached, audio_tokens: 0 },
            completion_tokens_details: {
              reasoning_tokens: tokens.reasoning,
              audio_tokens: 0,
              accepted_prediction_tokens: 0,
              rejected_prediction_tokens: 0,
            },
          },
        },
      };
    }),
  });

/** JSON of a request to `/events/batch` with as many properties as the events of calls have, and an amount. */
export const eventsBody = (label: string, first: number, count: number): string =>
  JSON.stringify({
    events: Array.from({ length: count }, (_, index) => {
      const { id, subscription, model, agent, user, input, cached, output, reasoning } = callOf(label, first + index);
      return {
        transaction_id: `openai:${id}`,
        external_subscription_id: subscription,
        code: 'ai_usage',
        precise_total_amount_cents: `${input + output}.125`,
        properties: {
          agent,
          user,
          provider: 'openai',
          model,
          tier: 'standard',
          calls: '1',
          tokens: String(input + output),
          input_tokens: String(input),
          output_tokens: String(output),
          tokens_input: String(input - cached),
          tokens_cache_read: String(cached),
          tokens_output: String(output - reasoning),
          tokens_reasoning: String(reasoning),
          format: 'openai_chat/1',
          status: 'priced',
        },
      };
    }),
  });

/** The metric, prices of the models, and subscriptions to a plan that sells the calls. */
export async function sellModelCalls(client: ApiClient, year: number): Promise<void> {
  const { setup } = await client.make('/ai/setup', { setup: {} });
  const kinds = { input: '2.5', cache_read: '1.25', output: '10' };
  await client.make('/price_book/entries', {
    entries: MODELS.flatMap((model) =>
      Object.entries(kinds).map(([kind, cost]) => ({
        provider: 'openai',
        model,
        kind,
        cost,
        currency: 'USD',
        valid_from: PRICED_SINCE,
        source: 'bench',
      })),
    ),
  });
  await client.make('/plans', {
    plan: {
      name: 'Calls',
      code: 'calls',
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 0,
      amount_currency: 'USD',
      charges: [{ billable_metric_id: setup.billable_metrics[0].svc_id, charge_model: 'dynamic', properties: {} }],
    },
  });
  for (let number = 0; number < SUBSCRIPTIONS; number += 1) {
    const external_id = subscriptionOfCall(number);
    await client.make('/customers', { customer: { external_id, currency: 'USD' } });
    await client.make('/subscriptions', {
      subscription: {
        external_customer_id: external_id,
        plan_code: 'calls',
        external_id,
        subscription_at: `${year}-01-01T00:00:00Z`,
      },
    });
  }
}
