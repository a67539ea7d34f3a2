import { retryDelayMinutes } from '../../../engine/taxes/eu/retry-delay.ts';
import type { Context } from '../../../platform/context.ts';
import { listTaxesById } from '../../catalog/taxes/queries.ts';
import { recordCheck } from '../customers/announce-vat-check.ts';
import { readCustomer } from '../customers/queries.ts';
import { chooseFor, giveTax, releaseInvoices } from '../eu-taxes/apply-eu-taxes.ts';
import { findOpenCheck, holdCustomer, readSeller } from '../eu-taxes/queries.ts';
import { closeCheck, deleteCheck, postponeCheck } from '../eu-taxes/writes.ts';

/** Why the register could not answer. Rule: eu-taxes.md. */
export const REGISTER_ERRORS = [
  'rate_limit',
  'timeout',
  'blocked',
  'invalid_requester',
  'service_unavailable',
  'member_state_unavailable',
  'unknown',
] as const;
export type RegisterError = (typeof REGISTER_ERRORS)[number];

/** What the register says about a number. */
export type RegisterAnswer =
  | { outcome: 'valid'; data: Record<string, unknown> }
  | { outcome: 'invalid' }
  | { outcome: 'error'; error: RegisterError; text: string };

/**
 * Applies the register's answer: the customer's taxes change and its invoices go on, or the question is asked again
 * later. Answers for a replaced VAT number are dropped.
 *
 * Rule: eu-taxes.md "VIES answer".
 */
export async function answerCheck(
  ctx: Context,
  asked: { checkId: string; number: string },
  answer: RegisterAnswer,
): Promise<void> {
  const known = await findOpenCheck(ctx, asked.checkId);
  if (!known) return;
  const isLive = await holdCustomer(ctx, known.customer_id);
  const check = await findOpenCheck(ctx, asked.checkId);
  if (!check || check.tax_identification_number !== asked.number) return;
  if (!isLive) {
    await deleteCheck(ctx, known.customer_id);
    return releaseInvoices(ctx, known.customer_id);
  }
  const customer = await readCustomer(ctx, known.customer_id);
  if (answer.outcome === 'error') {
    const nextAttemptAt = ctx.now().add({ minutes: retryDelayMinutes(check.attempts + 1) });
    await postponeCheck(ctx, check.id, { trouble: { error: answer.error, nextAttemptAt }, now: ctx.now() });
    return await recordCheck(ctx, {
      customer: customer,
      check: { valid: false, valid_format: true, error: answer.text },
    });
  }
  const isValid = answer.outcome === 'valid';
  await closeCheck(ctx, check.id, { status: answer.outcome, now: ctx.now() });
  const seller = await readSeller(ctx, customer.billing_entity_id);
  const choice = chooseFor(customer, seller, isValid);
  if (seller.eu_tax_management && choice !== 'ask-register') {
    const others = await listTaxesById(ctx, check.tax_ids);
    await giveTax(ctx, { customer, seller, code: choice.code, others });
  }
  await recordCheck(ctx, {
    customer: customer,
    check: {
      ...(answer.outcome === 'valid' ? answer.data : {}),
      valid: isValid,
      valid_format: true,
    },
  });
  await releaseInvoices(ctx, customer.id);
}
