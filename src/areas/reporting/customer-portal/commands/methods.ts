import type { Context } from '../../../../platform/context.ts';
import type { CustomerId, PaymentMethodId } from '../../../../platform/ids.ts';
import { deleteMethod, setDefaultMethod } from '../../../customers/payment-methods/commands.ts';
import { listMethods } from '../../../customers/payment-methods/queries.ts';
import { listOverdueGroups } from '../queries.ts';
import { lockAllowed } from './allowed.ts';
import { done, type PortalOutcome, refused } from './outcome.ts';

interface MethodInput {
  customer_id: CustomerId;
  method_id: PaymentMethodId;
}

/** Makes a stored method the default one. @throws Refusal 404 payment_method, of others */
export async function chooseDefaultMethod(ctx: Context, input: MethodInput): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, input.customer_id, 'payment_methods');
  await setDefaultMethod(ctx, { external_id: customer.external_id, svc_id: input.method_id });
  return done();
}

/**
 * Removes a stored method, but not the last one while something is overdue.
 *
 * @throws Refusal 404 payment_method, of others
 * Rule: portal.md#commands.
 */
export async function removeMethod(ctx: Context, input: MethodInput): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, input.customer_id, 'payment_methods');
  const { totalCount } = await listMethods(ctx, customer.id, { page: 1, per_page: 1 });
  if (totalCount <= 1 && (await listOverdueGroups(ctx, customer.id)).length > 0) return refused({ form: 'lastMethod' });
  await deleteMethod(ctx, { external_id: customer.external_id, svc_id: input.method_id });
  return done();
}
