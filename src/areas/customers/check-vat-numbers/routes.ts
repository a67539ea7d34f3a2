import { z } from 'zod';
import type { Operation } from '../../../platform/operation.ts';
import { checkAgain, showCheck } from './commands.ts';

const ViesCheckEnvelope = z.object({
  vies_check: z.object({
    status: z.enum(['pending', 'valid', 'invalid']),
    valid: z.boolean().nullable(),
    attempts: z.int(),
    last_error: z.string().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
  }),
});

const common = {
  permission: 'customer',
  tag: 'customers',
  path: '/customers/:external_id/vies_check',
  answer: ViesCheckEnvelope,
} as const;

/** What the VAT register says about the number of a customer (payment-requests.md#dunning-campaigns). */
export const viesCheckOperations: Operation[] = [
  {
    ...common,
    name: 'findViesCheck',
    method: 'get',
    summary: 'Retrieve the check of the VAT number of a customer',
    kind: 'read',
    run: showCheck,
  },
  {
    ...common,
    name: 'createViesCheck',
    method: 'post',
    summary: 'Check the VAT number of a customer again',
    description: 'The outcome comes by `customer.vies_check`.',
    kind: 'command',
    run: checkAgain,
  },
];
