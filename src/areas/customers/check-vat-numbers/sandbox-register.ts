import type { Context } from '../../../platform/context.ts';
import { readVatNumber } from '../../../platform/vat-numbers/read-vat-number.ts';
import { findOpenCheck } from '../eu-taxes/queries.ts';
import { answerCheck } from './take-answer.ts';

/**
 * Step `check-vat-number`: the register of sandboxes, which reach no real one. It knows every number whose check digits
 * fit. Rule: test-clocks.md#sandboxes "sandbox doubles".
 */
export async function checkVatNumberStep(ctx: Context, { check_id: checkId }: { check_id: string }): Promise<void> {
  const check = await findOpenCheck(ctx, checkId);
  if (!check) return;
  const number = check.tax_identification_number;
  const { hasValidChecksum, prefix, digits } = readVatNumber(number);
  const data = { country_code: prefix, vat_number: digits, name: null, address: null, request_date: null };
  await answerCheck(ctx, { checkId, number }, hasValidChecksum ? { outcome: 'valid', data } : { outcome: 'invalid' });
}
