import { assert } from '../../../../engine/assert.ts';
import type { Context } from '../../../../platform/context.ts';
import { upsertCustomer } from '../../../customers/customers/commands.ts';
import { type CustomerRow, lockCustomer } from '../../../customers/customers/queries.ts';
import type { LockedCustomer } from '../writes.ts';

/** The live customer of an external id, made when there is none, locked. Rule: subscriptions.md#fields. */
export async function lockOrCreateCustomer(ctx: Context, externalId: string): Promise<LockedCustomer> {
  const known = await lockCustomer(ctx, externalId);
  if (known) return factsOf(known);
  await upsertCustomer(ctx, { body: { external_id: externalId } });
  const made = await lockCustomer(ctx, externalId);
  assert(made, 'a customer that was just made is there');
  return factsOf(made);
}

const factsOf = (customer: CustomerRow): LockedCustomer => ({
  id: customer.id,
  external_id: customer.external_id,
  billing_entity_id: customer.billing_entity_id,
  currency: customer.currency,
  zone: customer.timezone ?? customer.billing_entity_timezone,
});
