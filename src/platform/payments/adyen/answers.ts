import { z } from 'zod';
import { providerId } from '../provider-id.ts';

const id = z.string().refine((text) => providerId(text) !== undefined);
const text = z.string().nullish();

/** Fields of Adyen's answers that we read; the others are dropped. */
export const PaymentAnswer = z.object({
  pspReference: id.optional(),
  resultCode: z.string(),
  merchantReference: text,
  /** What was authorised. */
  amount: z.object({ value: z.int().min(0), currency: z.string() }).nullish(),
  refusalReason: text,
  refusalReasonCode: text,
  action: z.object({ type: z.string(), url: text, method: text, paymentMethodType: text }).nullish(),
});
export type PaymentAnswer = z.infer<typeof PaymentAnswer>;

export const LinkAnswer = z.object({ id, url: z.url({ protocol: /^https?$/ }) });

/** A refund or cancellation that Adyen has taken; its outcome comes by an event. */
export const Taken = z.object({ pspReference: id, status: z.string() });

export const StoredMethods = z.object({
  storedPaymentMethods: z
    .array(
      z.object({
        id,
        type: text,
        brand: text,
        lastFour: text,
        expiryMonth: text,
        expiryYear: text,
      }),
    )
    .optional(),
});

export const Any = z.unknown();

export const Fault = z.object({
  errorCode: z.string().optional(),
  message: z.string().optional(),
  errorType: z.string().optional(),
});
