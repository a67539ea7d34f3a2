import { z } from 'zod';
import { textsOf } from '../metadata.ts';
import type { Received } from '../port.ts';
import { providerId } from '../provider-id.ts';

/** Events that a custom provider posts to us. */
export const EVENTS = [
  'payment.updated',
  'refund.updated',
  'method.attached',
  'method.changed',
  'method.detached',
  'dispute.opened',
  'dispute.closed',
] as const;

/** How many characters a text of an answer may have that people read, and how many an address. */
const MESSAGE_MAX = 1000;
const CODE_MAX = 255;
const URL_MAX = 2048;

const id = z.string().refine((text) => providerId(text) !== undefined);
const texts = z.record(z.string(), z.string());

/*
 * What is only shown is taken as far as it fits: a message that is too long, or a number in the metadata, must not lose
 * the outcome beside it.
 */
const fault = z
  .object({
    code: z.string().min(1).max(CODE_MAX),
    message: z.string().overwrite((text) => text.slice(0, MESSAGE_MAX)),
  })
  .nullish()
  .catch(undefined);
const shownTexts = z.record(z.string(), z.unknown()).transform(textsOf).nullish().catch(undefined);
const shownReason = z
  .string()
  .overwrite((text) => text.slice(0, CODE_MAX))
  .nullish()
  .catch(undefined);

/** What a body may hold beside the fields of an answer. */
export const Refused = z.object({ error: fault });
export const Accepted = z.object({ id });
export const Checked = z.object({ live: z.boolean().optional() });
export const Page = z.object({ id, url: z.url({ protocol: /^https?$/ }).max(URL_MAX) });

/** State of a payment: `id` may be missing only where nothing was started. */
export const PaymentAnswer = z.object({
  id: id.optional(),
  status: z.enum(['processing', 'succeeded', 'failed', 'amount_too_small', 'authentication_required']),
  /** What came in, where it says so: compared with what was charged. */
  amount: z.int().min(0).nullish(),
  currency: z.string().length(3).nullish(),
  error: fault,
  next_action: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
export type PaymentAnswer = z.infer<typeof PaymentAnswer>;

export const RefundAnswer = z.object({
  id,
  status: z.enum(['pending', 'succeeded', 'failed']),
  error: fault,
});

const Method = z.object({ id, type: z.string().min(1).max(255), details: shownTexts });
export const Methods = z.object({ methods: z.array(Method) });

/** A payment in a list or an event: with the amount in the smallest unit that we sent along as `exponent`. */
const Payment = z.object({
  id,
  status: z.string(),
  amount: z.int().min(0).optional(),
  currency: z.string().length(3).optional(),
  metadata: shownTexts,
  error: fault,
  /** Money that had come in was taken back. */
  reversed: z.boolean().optional(),
});
export const Payments = z.object({
  payments: z.array(Payment.required({ amount: true, currency: true })),
  next: z.string().min(1).max(255).nullable(),
});

/**
 * The money that an answer or an event names. Either half may come without the other, and is then compared by itself.
 * Rule: provider-connections.md#custom-provider.
 */
export const moneySaid = ({
  amount,
  currency,
}: {
  amount?: number | null | undefined;
  currency?: string | null | undefined;
}): Received => ({
  ...(typeof amount === 'number' ? { amountCents: amount } : {}),
  ...(currency ? { currency: currency.toUpperCase() } : {}),
});

/** The data of each event. */
export const EVENT_DATA = {
  'payment.updated': Payment,
  'refund.updated': RefundAnswer.extend({ metadata: shownTexts }),
  'method.attached': Method.extend({ provider_customer_id: id }),
  'method.changed': Method,
  'method.detached': z.object({ id }),
  'dispute.opened': z.object({ payment_id: id, reason: shownReason }),
  'dispute.closed': z.object({ payment_id: id, lost: z.boolean(), reason: shownReason }),
} as const satisfies Record<(typeof EVENTS)[number], z.ZodType>;

const money = { amount: z.int(), currency: z.string(), exponent: z.int() };
const page = {
  provider_customer_id: z.string(),
  method_types: z.array(z.string()),
  success_url: z.string(),
};
const byId = z.object({ id: z.string() });

/** Operations that we post to a custom provider: what we send as `data`, and what a 200 holds. */
export const OPERATIONS = {
  check: {
    summary: 'Whether the address and the secret are right; `inbound_url` is where events go',
    data: z.object({ inbound_url: z.string() }),
    answer: Checked,
  },
  'customer.create': {
    summary: 'Make a customer',
    data: z.object({ name: z.string().nullable(), email: z.string().nullable(), metadata: texts }),
    answer: Accepted,
  },
  'methods.list': {
    summary: 'List what a customer can pay with',
    data: z.object({ provider_customer_id: z.string(), types: z.array(z.string()) }),
    answer: Methods,
  },
  'setup_page.create': {
    summary: 'Open a page on which a customer stores a method',
    data: z.object(page),
    answer: Page,
  },
  'payment_page.create': {
    summary: 'Open a page on which a customer pays one amount',
    data: z.object({ ...page, ...money, description: z.string(), metadata: texts }),
    answer: Page,
  },
  'page.expire': { summary: 'Close a page', data: byId, answer: Accepted },
  'charge.create': {
    summary: 'Charge a stored method; 202 when the outcome comes by an event',
    data: z.object({
      ...money,
      provider_customer_id: z.string(),
      provider_method_id: z.string(),
      description: z.string(),
      metadata: texts,
    }),
    answer: PaymentAnswer,
  },
  'payment.read': {
    summary: 'Read the state of a payment; 202 while it is in progress',
    data: byId,
    answer: PaymentAnswer,
  },
  'payment.cancel': { summary: 'End a payment that has not succeeded', data: byId, answer: PaymentAnswer },
  'refund.create': {
    summary: 'Refund a payment or a part of it; 202 when the outcome comes by an event',
    data: z.object({ payment_id: z.string(), ...money, reason: z.string().nullable(), metadata: texts }),
    answer: RefundAnswer,
  },
  'refund.read': {
    summary: 'Read the state of a refund; 202 while it is in progress',
    data: byId,
    answer: RefundAnswer,
  },
  'payments.list': {
    summary: 'List payments made at or after an instant, newest first; `until` may end the list',
    data: z.object({ since: z.int(), until: z.int().optional(), cursor: z.string().nullable(), limit: z.int() }),
    answer: Payments,
  },
} as const;
export type Operation = keyof typeof OPERATIONS;
