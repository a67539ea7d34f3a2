import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import { upsertCustomer } from '../../customers/commands.ts';
import { type LockedCustomer, lockCustomerByExternalId } from '../writes.ts';

/** The live customer of an external id, made when there is none, locked. Rule: subscriptions-and-invoices B.1. */
export async function lockOrCreateCustomer(ctx: Context, externalId: string): Promise<LockedCustomer> {
  const known = await lockCustomerByExternalId(ctx.db, ctx.organizationId, externalId);
  if (known) return known;
  await upsertCustomer(ctx, { body: { external_id: externalId } });
  const made = await lockCustomerByExternalId(ctx.db, ctx.organizationId, externalId);
  assert(made, 'a customer that was just made is there');
  return made;
}
