import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BODY_EXAMPLES, TEXT_EXAMPLES } from '../../src/ingress/body-examples/body-examples.ts';
import { ID } from '../../src/ingress/body-examples/ids.ts';
import { operations } from '../../src/operations.ts';
import { startService, type TestService } from '../support/service.ts';
import { keysOfAnswer, shownAnswer } from '../support/shown-answer.ts';
import { everythingDone } from './books.ts';
import { watchAnswers } from './described-answers.ts';
import { buildWorld, pathOf, type World } from './world.ts';

// The examples of the API description, sent to a running service in their order: each is accepted, or refused with the
// error that the table names, since the record of this test in the path is not the one that the example is about.
type Sent = Awaited<ReturnType<TestService['org']>>;
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Shown = any;
const answers = watchAnswers();
let service: TestService;
let client: Sent;
let world: World;

beforeAll(async () => {
  service = await startService();
  client = await service.org({ sandbox: true });
  world = await buildWorld(client, service.sql);
  await everythingDone(service.sql);
});
afterAll(() => service.stop());

/** Examples in which a subscription stands for one that begins in 2030, and a customer for one that owes nothing. */
const HERE: Readonly<Record<string, object>> = Object.fromEntries(
  [
    ...['eventEstimateFees', 'eventEstimateInstantFees', 'eventBatchEstimateInstantFees'].map(
      (name) => [name, 'ada-1', 'ada-now'] as const,
    ),
    ['createPaymentRequest', 'ada', 'late'] as const,
  ].map(([name, theirs, ours]) => [
    name,
    JSON.parse(JSON.stringify(BODY_EXAMPLES[name]).replaceAll(JSON.stringify(theirs), JSON.stringify(ours))),
  ]),
);

/** Status, code, and what is refused, by operation. */
const REFUSED: Readonly<Record<string, string>> = {
  advanceTestClock: '422 validation_errors frozen_time value_is_out_of_range',
  approveQuoteVersion: '422 validation_errors status not_approvable',
  confirmSandboxPayment: '405 invalid_status',
  createAdjustedFee: '403 feature_unavailable',
  createCreditNoteEDocument: '422 validation_errors base e_document_not_available problems',
  createCustomerWalletAlert: '422 validation_errors base alert_already_exists',
  createFeature: '422 validation_errors code value_already_exist',
  createInvoiceCustomSection: '422 validation_errors code value_already_exist',
  createInvoiceEDocument: '422 validation_errors base e_document_not_available problems',
  createPlanCharge: '422 validation_errors code value_already_exist',
  createPlanChargeFilter: '422 validation_errors values value_already_exist',
  createSubscriptionAlert: '422 validation_errors base alert_already_exists',
  createProviderReconciliation: '404 object_not_found payment_provider',
  createTestClock: '422 validation_errors base value_already_exist',
  destroyPlanChargeFilter: '404 object_not_found charge',
  finishSandboxCheckout: '404 object_not_found checkout',
  markOrderFormAsSigned: '422 validation_errors status not_signable',
  previewAdjustedFee: '403 feature_unavailable',
  resendCreditNoteEmail: '405 email_settings_disabled',
  resendInvoiceEmail: '405 email_settings_disabled',
  resendPaymentReceiptEmail: '405 email_settings_disabled',
  retryPayment: '405 invalid_status',
  setFeatureUsageLimits: '404 object_not_found privilege',
  settleWalletHold: '405 hold_not_open',
  syncInvoiceCrmId: '404 object_not_found integration',
  updateAuditFinding: '404 object_not_found audit_finding',
  updateCreditNote: '422 validation_errors refund_status value_is_invalid',
  updateBudgetHold: '405 hold_not_open',
  updateFee: '405 invoiced_fee',
  updateQuoteVersion: '422 validation_errors status not_editable',
  updateWalletHold: '405 hold_not_open',
  verifyMailSender: '422 validation_errors code value_is_invalid',
  writeOffInvoice: '405 invalid_status',
};

/** What was answered to the examples, for the API description. Written anew by UPDATE_DOCS=1. */
const ANSWERS = new URL('../../docs/examples/answers.json', import.meta.url);

test('every example of the API description is accepted, or refused with an error that is declared', async () => {
  const [overdue] = (await client.get('/invoices?payment_overdue=true')).body.invoices;
  const made = new Map<string, Shown>([['overdue', overdue.svc_id]]);
  const refused: Record<string, string> = {};
  const answered: Record<string, object> = {};
  const ids = await idsOfWorld();
  const examples = Object.entries({ ...BODY_EXAMPLES, ...TEXT_EXAMPLES }).map(([name, example]) => ({
    name,
    example: HERE[name] ?? example,
    operation: operations.find((each) => each.name === name)!,
  }));
  // What others look at is deleted last, and a coupon is applied to a customer who is there.
  const isLate = ({ name, operation }: (typeof examples)[number]) =>
    Number(operation.method === 'delete' || name === 'applyCoupon');
  for (const { name, example, operation } of examples.sort((a, b) => isLate(a) - isLate(b))) {
    if (name === 'eventEstimateFees') await subscribeNow();
    const ofExample = { ...ids, ...idsOfExamples(name, made) };
    const isText = typeof example === 'string';
    const { status, body } = await client[operation.method as 'post'](
      pathOf(operation, world),
      isText ? undefined : withIds(example, ofExample),
      isText ? { raw: example, headers: { 'content-type': operation.readsOwnBody!.contentType } } : {},
    );
    made.set(name, body);
    const what = body?.resource ?? wordsOf(body?.error_details ?? {});
    if (status !== 200) refused[name] = `${status} ${body?.code} ${what}`.trim();
    else if (typeof body === 'object' && body !== null) answered[name] = shownAnswer(body);
  }
  expect(refused).toEqual(REFUSED);
  expect([...answers.differences]).toEqual([]);
  if (process.env.UPDATE_DOCS) writeFileSync(ANSWERS, `${JSON.stringify(answered, null, 1)}\n`);
  const shown: Record<string, object> = JSON.parse(readFileSync(ANSWERS, 'utf8'));
  const keys = (all: Record<string, object>) =>
    Object.fromEntries(Object.entries(all).map(([name, body]) => [name, keysOfAnswer(body)]));
  expect(keys(answered)).toEqual(keys(shown));
});

/** What an answer says of its fields. */
const wordsOf = (details: object): string =>
  Object.entries(details)
    .flat(2)
    .filter((word) => typeof word === 'string')
    .join(' ');

/** The example's customer and metric, with a subscription that has begun and is billed by the event. */
async function subscribeNow(): Promise<void> {
  const { billable_metric } = (await client.get('/billable_metrics/storage')).body;
  const charge = {
    billable_metric_id: billable_metric.svc_id,
    code: 'storage',
    charge_model: 'standard',
    pay_in_advance: true,
    properties: { amount: '0.1' },
  };
  const plan = {
    name: 'Now',
    code: 'now',
    interval: 'monthly',
    amount_cents: 0,
    amount_currency: 'USD',
    pay_in_advance: false,
    charges: [charge],
  };
  expect((await client.post('/plans', { plan })).status).toBe(200);
  const subscription = { external_customer_id: 'ada', plan_code: 'now', external_id: 'ada-now' };
  expect((await client.post('/subscriptions', { subscription })).status).toBe(200);
}

/** Ids of the world's records by the fields that name such a record. */
async function idsOfWorld(): Promise<Record<string, string>> {
  const { billable_metric } = (await client.get('/billable_metrics/calls')).body;
  return {
    billable_metric_id: billable_metric.svc_id,
    invoice_id: world.invoices!.svc_id!,
    fee_id: world.fees!.svc_id!,
    id: world.fees!.svc_id!,
    payment_method_id: world.customers!.svc_id!,
    wallet_id: world.wallets!.svc_id!,
  };
}

/** Ids of records that earlier examples have made, where an example is about them. */
function idsOfExamples(name: string, made: ReadonlyMap<string, Shown>): Record<string, string> {
  const invoice = made.get('createInvoice')?.invoice;
  const ofInvoice = { invoice_id: invoice?.svc_id, fee_id: invoice?.fees[0].svc_id };
  switch (name) {
    case 'createQuote':
      return { id: made.get('createAddOn').add_on.svc_id };
    case 'createCreditNote':
    case 'estimateCreditNote':
    case 'createPayment':
      return ofInvoice;
    case 'createPaymentRequest':
      return { svc_invoice_ids: made.get('overdue') };
    default:
      return {};
  }
}

/** An example in which the id that stands for all of them is that of a record, by the field that it stands in. */
function withIds(example: object, ids: Readonly<Record<string, string>>): object {
  const replaced = (value: unknown, field: string): unknown => {
    if (value === ID) {
      expect(ids, `an id for ${field}`).toHaveProperty(field);
      return ids[field];
    }
    if (Array.isArray(value)) return value.map((each) => replaced(each, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, key)]));
  };
  return replaced(example, '') as object;
}
