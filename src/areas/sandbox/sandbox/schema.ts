import { z } from 'zod';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { cleanText, oneOf } from '../../../platform/schema/fields.ts';
import { secret } from '../../../platform/schema/secret-field.ts';
import { cardNumber } from '../../customers/payment-methods/schema.ts';

export const Confirmation = z.object({ outcome: oneOf(['succeeded', 'failed']) });
export type Confirmation = z.infer<typeof Confirmation>;
export const ConfirmationEnvelope = z.object({
  confirmation: z.object({ svc_payment_id: z.uuid(), outcome: z.enum(['succeeded', 'failed']) }),
});

export const CheckoutFinish = z.object({ card_number: secret(cardNumber()), iban: secret(cleanText()) });
export type CheckoutFinish = z.infer<typeof CheckoutFinish>;
export const CheckoutEnvelope = z.object({ checkout: z.object({ svc_payment_method_id: z.uuid() }) });

export const MailsQuery = z.object(pageQuery);
export type MailsQuery = z.infer<typeof MailsQuery>;
export const MailList = z.object({
  mails: z.array(
    z.object({
      to: z.array(z.string()),
      bcc: z.array(z.string()),
      subject: z.string(),
      text: z.string(),
      html: z.string().nullable(),
      attachments: z.array(
        z.object({ file_name: z.string(), content_type: z.string(), size_bytes: z.int(), file_url: z.string() }),
      ),
      created_at: z.string(),
    }),
  ),
  meta: PageMeta,
});
export const Nothing = z.object({});
