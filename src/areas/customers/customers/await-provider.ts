import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../../platform/context.ts';
import type { OperationInput } from '../../../platform/operation.ts';
import type { upsertCustomer } from './commands.ts';
import { readCustomer } from './queries.ts';

/** How long an answer waits for the customer to be made at its provider: billing data never waits longer for one. */
const PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 100;

/** Whether the answer is to contain the provider's id of the customer, which a job fetches after the commit. */
const isAwaited = ({ body }: OperationInput): boolean => {
  const configuration = body?.billing_configuration;
  return configuration?.sync === true && configuration?.sync_with_provider === true;
};

type Answer = Awaited<ReturnType<typeof upsertCustomer>>;

/**
 * The answer with the id of the customer at its provider, where `sync` asks for it and the provider makes it within 5
 * s; the customer is saved even if the provider refuses or is away. Rules: customers.md#payment-provider,
 * provider-connections.md#customers-at-the-provider.
 */
export async function awaitProviderCustomer(ctx: Context, answer: Answer, input: OperationInput): Promise<Answer> {
  if (!isAwaited(input)) return answer;
  const { customer } = answer;
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_AGAIN_MS) {
    const now = await readCustomer(ctx, customer.svc_id);
    if (now.payment_provider_id === null) return answer;
    if (now.provider_customer_id !== null)
      return {
        customer: {
          ...customer,
          billing_configuration: {
            ...customer.billing_configuration,
            provider_customer_id: now.provider_customer_id,
          },
        },
      };
    await pause(LOOK_AGAIN_MS);
  }
  return answer;
}
