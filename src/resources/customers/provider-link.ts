import type { CustomerFields, CustomerRow } from './queries.ts';
import type { CustomerInput } from './schema.ts';

type Configuration = NonNullable<CustomerInput['billing_configuration']>;

/**
 * What an upsert does to the link with a payment provider. Naming a provider alone stores it; creating the customer there
 * (`sync_with_provider`) or linking it (`provider_customer_id`) needs a connection. No organization has one yet, so
 * both are refused with `payment_provider_not_found`. Rule: platform F.5.
 */
export function providerLink(
  input: Configuration,
  stored: CustomerRow | undefined,
): { changes: Partial<CustomerFields>; faults: Record<string, string[]> } {
  const changes: Partial<CustomerFields> = {};
  const provider = input.payment_provider === undefined ? (stored?.payment_provider ?? null) : input.payment_provider;
  const isToBeLinked =
    (input.provider_customer_id !== undefined && input.provider_customer_id !== null) ||
    (provider !== null && input.sync_with_provider === true);
  if (isToBeLinked) return { changes, faults: { base: ['payment_provider_not_found'] } };

  if (input.payment_provider === null) {
    return {
      changes: {
        payment_provider: null,
        payment_provider_code: null,
        provider_customer_id: null,
        provider_payment_methods: ['card'],
      },
      faults: {},
    };
  }
  if (input.payment_provider !== undefined) changes.payment_provider = input.payment_provider;
  if (input.payment_provider_code !== undefined) changes.payment_provider_code = input.payment_provider_code;
  if (input.provider_customer_id === null) changes.provider_customer_id = null;
  if (input.provider_payment_methods !== undefined) changes.provider_payment_methods = input.provider_payment_methods;
  return { changes, faults: {} };
}
