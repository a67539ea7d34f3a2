import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { secondsOrNull } from '../../../platform/schema/view.ts';
import { type CustomerRow, getCustomer, lockCustomer } from '../customers/queries.ts';
import { askRegister } from '../eu-taxes/apply-eu-taxes.ts';
import { type CheckRow, findCheck } from '../eu-taxes/queries.ts';

/** @throws Refusal 404 customer, vies_check */
export async function showCheck(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx, external_id);
  return { vies_check: checkView(await getCheck(ctx, customer)) };
}

/**
 * Asks the register about a customer's number again, now. Taxes change when it answers.
 *
 * @throws Refusal 404 customer, vies_check, when it was never asked
 * Rule: payment-requests.md#dunning-campaigns.
 */
export async function checkAgain(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await lockCustomer(ctx, external_id);
  if (!customer) throw refuse.notFound('customer');
  const { tax_ids: taxIds } = await getCheck(ctx, customer);
  await askRegister(ctx, customer, taxIds);
  return { vies_check: checkView(await getCheck(ctx, customer)) };
}

async function getCheck(ctx: Context, customer: CustomerRow): Promise<CheckRow> {
  const check = await findCheck(ctx, customer.id);
  if (!check) throw refuse.notFound('vies_check');
  return check;
}

const checkView = (check: CheckRow) => ({
  status: check.status,
  valid: check.status === 'pending' ? null : check.status === 'valid',
  attempts: check.attempts,
  last_error: check.last_error,
  next_attempt_at: secondsOrNull(check.next_attempt_at),
});
