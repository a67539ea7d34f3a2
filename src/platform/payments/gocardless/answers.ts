import { z } from 'zod';
import { providerId } from '../provider-id.ts';

const id = z.string().refine((text) => providerId(text) !== undefined);
const textOrNull = z.string().nullish();
const metadata = z.record(z.string(), z.string()).optional();
const cents = z.int().min(0);
const instant = z.iso.datetime({ offset: true }).nullish().catch(undefined);

/** Fields of GoCardless's records that we read; the others are dropped. */
export const Payment = z.object({
  id,
  amount: cents,
  amount_refunded: cents.optional(),
  currency: z.string(),
  status: z.string(),
  charge_date: textOrNull,
  created_at: instant,
  metadata,
  links: z.object({ mandate: z.string().optional() }).optional(),
});
export type Payment = z.infer<typeof Payment>;

export const Refund = z.object({
  id,
  amount: cents,
  currency: z.string(),
  status: z.string().optional(),
  created_at: instant,
  metadata,
  links: z.object({ payment: z.string().optional() }).optional(),
});
export type Refund = z.infer<typeof Refund>;

export const Mandate = z.object({
  id,
  status: z.string(),
  scheme: textOrNull,
  /** What the payer signed, and what banks show; the id is known to GoCardless alone. */
  reference: textOrNull,
  links: z.object({
    customer: z.string().optional(),
    customer_bank_account: z.string().optional(),
    new_mandate: z.string().optional(),
  }),
});
export type Mandate = z.infer<typeof Mandate>;

export const BankAccount = z.object({ id, account_number_ending: textOrNull, bank_name: textOrNull });

/** Who collects: a creditor of the account, with the identifiers by which banks know it. */
export const Creditor = z.object({
  can_create_refunds: z.boolean().optional(),
  scheme_identifiers: z
    .array(
      z.object({
        scheme: textOrNull,
        currency: textOrNull,
        can_specify_mandate_reference: z.boolean().optional(),
      }),
    )
    .optional(),
});
export type Creditor = z.infer<typeof Creditor>;

export const Named = z.object({ id });
export const Flow = z.object({ authorisation_url: z.url({ protocol: /^https?$/ }) });

/** Where the next page begins. */
export const Meta = z.object({ cursors: z.object({ after: z.string().nullish() }).optional() }).optional();

export const Fault = z.object({
  error: z.object({
    message: z.string().optional(),
    type: z.string().optional(),
    errors: z
      .array(
        z.object({
          reason: z.string().optional(),
          field: z.string().optional(),
          message: z.string().optional(),
          links: z
            .object({ conflicting_resource_id: z.string().optional(), new_mandate: z.string().optional() })
            .optional(),
        }),
      )
      .optional(),
  }),
});
