import { z } from 'zod';
import type { Operation } from '../platform/operation.ts';
import { FIELD_ROWS } from './field-codes.ts';

/** A code of an error answer: the one table behind docs/errors.md and the errors in the API description. */
export interface ErrorCode {
  status: number;
  code: string;
  /** Operations that may answer it: their names or tags, or one of GROUPS. */
  at: readonly string[];
  means: string;
  remedy: string;
}

/** Names of groups of operations. */
export const GROUPS = {
  every: 'every operation',
  writes: 'every write',
  bodies: 'every operation with a body',
  lists: 'every list',
  ids: 'every operation on one record',
  links: 'links to documents, which need no key',
  console: 'signing in to the console',
} as const;

export type CodeRow = readonly [code: string, at: string, means: string, remedy: string];

/** 400, 401, 403, 404, 413, 415, 429, 503 and 504: the request as a whole. Groups and tags are separated by spaces. */
const WHOLE: Record<number, readonly CodeRow[]> = {
  400: [
    ['coupons_must_be_an_array', 'invoicePreview', '`coupons` is no list', 'Send a list, also of one'],
    [
      'subscriptions_must_be_an_object',
      'invoicePreview',
      '`subscriptions` is no object',
      'Send `external_ids` in an object',
    ],
  ],
  403: [
    [
      'active_version_exists',
      'cloneQuoteVersion',
      'Another version of the quote is a draft or approved',
      'Void it, or edit the draft',
    ],
    [
      'cannot_finalize_with_pending_taxes',
      'finalizeInvoice',
      'A VAT number of the customer is still being checked',
      'Wait for `customer.vies_check`',
    ],
    [
      'cannot_override_charge_model',
      'subscriptions',
      'An override keeps the model of its charge',
      'Leave `charge_model` out, or make another plan',
    ],
    ['invalid_signature', 'links', 'The link to a document was changed', 'Take it again from `POST …/download`'],
    ['link_expired', 'links', 'The time of the link is over', 'Take a new one from `POST …/download`'],
    [
      'deployment_price',
      'retractPriceEntry',
      'The price is the deployment’s, for all organizations',
      'Write a price of your own, which comes before it',
    ],
    [
      'feature_unavailable',
      'invoices credit_notes payment_receipts billable_metrics test_clock wallets retryMail testMailTemplate',
      'This deployment or organization lacks what the call needs: a mail server, a sandbox, custom aggregation',
      'Ask the operator; test clocks need an organization made with `--sandbox`',
    ],
    [
      'MODE_action_not_allowed_for_RESOURCE',
      'every',
      'The API key lacks this permission, for example `write_action_not_allowed_for_customer`',
      'Use a key with it, or extend this one with `PUT /api_keys/{id}`',
    ],
  ],
  404: [
    [
      'object_not_found',
      'ids test_clock',
      'The record does not exist, is deleted, or is another organization’s; `resource` names its kind',
      'Check the id or code, and whose key you use',
    ],
  ],
  413: [
    [
      'payload_too_large',
      'bodies',
      'The body is above 1 MiB (batches of events 5 MiB), or unpacks to more than 100 times its size',
      'Send several requests',
    ],
  ],
  415: [
    [
      'unsupported_media_type',
      'bodies',
      '`Content-Type` is no JSON (or, for bulk events, NDJSON), or its charset or packing is unknown',
      'Send `Content-Type: application/json`',
    ],
  ],
  429: [
    [
      'too_many_requests',
      'every',
      'The organization’s requests of this second are used up',
      'Wait for the seconds of `Retry-After`',
    ],
    [
      'too_many_provider_requests',
      'createPaymentProvider updatePaymentProvider checkPaymentProvider createSubscription generateCustomerCheckoutURL walletTransactionPaymentUrl invoicePaymentUrl importCustomerPaymentMethods repairProviderDrift',
      'The payment provider has had too many calls; nothing was done',
      'Wait for the seconds of `Retry-After`',
    ],
  ],
  503: [
    [
      'service_unavailable',
      'every',
      'Postgres, Redis or a pool is out of reach or full',
      'Repeat after `Retry-After`; a write with its `Idempotency-Key`',
    ],
    [
      'cell_unavailable',
      'every',
      'The server that holds the organization, the `cell` of the answer, is out of reach',
      'Repeat after `Retry-After`; a write with its `Idempotency-Key`',
    ],
    [
      'cell_draining',
      'every',
      'The server that holds the organization, the `cell` of the answer, is being moved and takes no writes',
      'Repeat after the seconds of `Retry-After`; a write with its `Idempotency-Key`',
    ],
  ],
  504: [
    [
      'write_pending',
      'writes',
      'No outcome within 10 s; the write runs at most once',
      'Repeat it with the same `Idempotency-Key` to learn the outcome',
    ],
  ],
};

/** 405: the state of the record forbids it. */
const STATE: readonly CodeRow[] = [
  [
    'cannot_terminate_with_pending_taxes',
    'destroySubscription createSubscription',
    'The taxes of the last invoice are still being determined',
    'Repeat after `customer.vies_check`',
  ],
  ['credit_note_voided', 'updateCreditNote', 'The credit note is void', 'Make another'],
  [
    'event_malformed',
    'retryInboundEvent',
    'The event lacks what an event of its type has to say',
    'Have its provider correct it and send it again',
  ],
  [
    'email_settings_disabled',
    'resendInvoiceEmail resendCreditNoteEmail resendPaymentReceiptEmail',
    'The billing entity sends no such mails',
    'Name the kind in its `email_settings`',
  ],
  [
    'event_not_supported',
    'retryInboundEvent',
    'Nobody has decided yet what an event of this type means',
    'Leave it, or switch the type off at the provider',
  ],
  [
    'feature_not_supported',
    'payment_methods walletTransactionPaymentUrl invoicePaymentUrl generateCustomerCheckoutURL',
    'The connection’s provider cannot do this',
    'Use another connection',
  ],
  [
    'full_usage_not_allowed',
    'findCustomerCurrentUsage',
    '`full_usage` needs a filter by charge, metric or group, and charges that are not prorated',
    'Name one of them',
  ],
  [
    'hold_not_open',
    'updateWalletHold settleWalletHold releaseWalletHold updateBudgetHold settleBudgetHold releaseBudgetHold',
    'The hold is settled, released or expired',
    'Open another',
  ],
  [
    'invalid_status',
    'invoices payments events invoice_custom_sections sandbox test_clock webhooks payment_providers provider_drifts ' +
      'sendEDocument retryMail',
    'The record is not in a state that allows this',
    'Read its `status` first',
  ],
  [
    'invalid_type_or_status',
    'createCreditNote estimateCreditNote',
    'Only final invoices of paid kinds can be credited',
    'Check `status` and `invoice_type`',
  ],
  ['invoice_not_finalized', 'createInvoiceEDocument', 'The invoice is no final one yet', 'Finalize it first'],
  ['invoiced_fee', 'deleteFee', 'The fee is on an invoice', 'Correct the invoice instead'],
  [
    'invoices_have_different_billing_entities',
    'createPaymentRequest',
    'One request has one billing entity',
    'Make one request each',
  ],
  [
    'invoices_have_different_currencies',
    'createPaymentRequest',
    'One request has one currency',
    'Make one request each',
  ],
  [
    'invoices_not_overdue',
    'createPaymentRequest',
    'Only overdue invoices are asked for',
    'Wait until `payment_overdue` is true',
  ],
  [
    'invoices_not_ready_for_payment_processing',
    'createPaymentRequest',
    'A payment of one of them is under way',
    'Wait for its outcome',
  ],
  ['is_succeeded', 'retryWebhook', 'The delivery has arrived', 'Use `replay` to deliver it again'],
  ['metadata_on_draft_invoice', 'updateInvoice', 'Drafts take no metadata', 'Finalize it first'],
  [
    'no_active_subscription',
    'findCustomerCurrentUsage findCustomerProjectedUsage',
    'The customer has no active subscription of that id',
    'Check `external_subscription_id`',
  ],
  ['no_voidable_amount', 'voidCreditNote', 'Nothing of the credit is left', 'Nothing to do'],
  [
    'not_deletable',
    'archiveBillingEntity deleteInvoice destroyPricingUnit',
    'Other records need it',
    'Archive, void or replace it instead',
  ],
  ['not_disputable', 'loseDisputeInvoice', 'Only a final or void invoice can lose a dispute', 'Check its `status`'],
  [
    'not_regenerable',
    'regenerateInvoice',
    'Only a void invoice is regenerated, once; none of gathered fees or paid credits, or whose usage was billed since',
    'Void it first',
  ],
  [
    'not_voidable',
    'voidInvoice voidOrderForm voidQuoteVersion',
    'It is void already, or its state forbids it',
    'Read its `status`',
  ],
  [
    'only_one_limitation_type_per_coupon_allowed',
    'createCoupon updateCoupon',
    'A coupon is limited to plans or to metrics',
    'Send one of them',
  ],
  [
    'payment_not_handled_yet',
    'retryInboundEvent',
    'The event undoes a payment whose own event is not handled yet',
    'Handle that event first',
  ],
  [
    'payment_processor_is_currently_handling_payment',
    'retryPayment retryAllInvoices createPayment',
    'A payment of the invoice is under way',
    'Wait for its outcome',
  ],
  ['payment_status_update_on_draft_invoice', 'updateInvoice', 'A draft has no payment', 'Finalize it first'],
  [
    'plan_overlapping',
    'applyCoupon quotes',
    'The customer has a coupon that is limited to the same plans or metrics',
    'End the other one',
  ],
  [
    'provider_connected',
    'createTestClock',
    'A real payment provider is connected: no test clock beside it',
    'Use a sandbox of its own',
  ],
  [
    'purchase_order_number_not_editable',
    'updateSubscription',
    'An ended subscription keeps its number',
    'Nothing to do',
  ],
  [
    'subscription_incomplete',
    'destroySubscription updateSubscription createSubscription subscriptions',
    'The subscription waits for its first payment',
    'Wait until it is active, or cancel it',
  ],
  [
    'test_clock_advancing',
    'writes',
    'The sandbox’s test clock is moving',
    'Poll `GET /test_clock` until `status` is `ready`',
  ],
  ['update_on_voided_invoice', 'updateInvoice', 'The invoice is void', 'Nothing to do'],
  ['wallet_not_active', 'createWalletTransaction createWalletHold', 'The wallet has ended', 'Use another wallet'],
  [
    'verification_expired',
    'verifyMailSender',
    'No code is open: its 30 minutes are over, or five wrong ones were told',
    'Send `from_address` again, which mails a new one',
  ],
];

/** 422 with a top-level code of its own. */
const SPECIAL: readonly CodeRow[] = [
  ['lock_acquisition_failed', 'writes', 'Another write holds the record', 'Repeat it'],
  [
    'provider_error',
    'createSubscription payments retryPayment generateCustomerCheckoutURL walletTransactionPaymentUrl invoicePaymentUrl importCustomerPaymentMethods',
    'The payment provider refused; its code and message are in `error_details`',
    'Act on the provider’s code',
  ],
  [
    'stripe_required',
    'createSubscription',
    '`authorization` needs a customer that is linked to Stripe',
    'Link it first',
  ],
  [
    'third_party_error',
    'createPaymentProvider updatePaymentProvider checkPaymentProvider createIntegration updateIntegration',
    'The payment provider or tax engine could not be used',
    'Read `error_details`; check the credentials',
  ],
  [
    'validation_errors',
    'bodies lists',
    'Fields are wrong: `error_details` names each with its codes, `error_places` says where',
    'Look its codes up below',
  ],
];

const rowsOf = (status: number, rows: readonly CodeRow[]): ErrorCode[] =>
  rows.map(([code, at, means, remedy]) => ({ status, code, at: at.split(' '), means, remedy }));

/** Every code, by status and name. Codes of one field share the status 422 with `validation_errors`. */
export const ERROR_CODES: readonly ErrorCode[] = [
  ...Object.entries(WHOLE).flatMap(([status, rows]) => rowsOf(Number(status), rows)),
  ...rowsOf(405, STATE),
  ...rowsOf(422, SPECIAL),
  ...rowsOf(422, FIELD_ROWS),
].sort((a, b) => a.status - b.status);

/** Codes under a field of `error_details`, not the code of the answer. */
export const FIELD_CODES: ReadonlySet<string> = new Set(FIELD_ROWS.map(([code]) => code));

/** The error codes of an operation by status. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const words = new Set([operation.name, operation.tag, ...groupsOf(operation)]);
  return ERROR_CODES.filter(({ at }) => at.some((word) => words.has(word)));
}

function groupsOf({ kind, body, path, query }: Operation): (keyof typeof GROUPS)[] {
  const isList = query instanceof z.ZodObject && 'page' in query.shape;
  return [
    'every',
    ...(kind === 'read' ? [] : (['writes'] as const)),
    ...(body ? (['bodies'] as const) : []),
    ...(isList ? (['lists'] as const) : []),
    ...(path.includes('/:') ? (['ids'] as const) : []),
  ];
}
