import { z } from 'zod';
import { list } from '../../../platform/schema/bounded.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';

const FORMAT = 'invalid_email_format';
/** How many addresses a mail may have of each kind: to, cc and bcc. */
const MOST_ADDRESSES = 50;

const addresses = list(z.email(FORMAT).max(LINE_MAX, FORMAT), {
  max: MOST_ADDRESSES,
  wrong: { error: () => FORMAT },
  tooMany: 'value_is_out_of_range',
}).nullish();

/**
 * Input of the `resend_email` routes: without addressees the mail goes to the customer.
 * Rule: credit-notes.md#endpoints.
 */
export const ResendEmail = z.object({ to: addresses, cc: addresses, bcc: addresses });
export type ResendEmail = z.infer<typeof ResendEmail>;
