import express, { type Express, type Request, type Response } from 'express';
import { methodName } from '../areas/customers/payment-methods/method-name.ts';
import { findMethod } from '../areas/customers/payment-methods/queries.ts';
import { payLink } from '../areas/messaging/mails/pay-link.ts';
import { PORTAL_PATH } from '../areas/messaging/mails/portal-token.ts';
import { awaitPage } from '../areas/payments/payments/provider-pages.ts';
import { alertsPage } from '../areas/reporting/customer-portal/alerts/page.ts';
import type { PortalOutcome } from '../areas/reporting/customer-portal/commands/outcome.ts';
import { DETAIL_FIELDS } from '../areas/reporting/customer-portal/details/fields.ts';
import { detailsPage } from '../areas/reporting/customer-portal/details/page.ts';
import { documentsPage } from '../areas/reporting/customer-portal/documents/page.ts';
import { addressOf, type Frame, may } from '../areas/reporting/customer-portal/frame.ts';
import { noticePage } from '../areas/reporting/customer-portal/layout.ts';
import { openingPage, pendingPage, saidOf } from '../areas/reporting/customer-portal/messages.ts';
import { methodsPage } from '../areas/reporting/customer-portal/methods/page.ts';
import { formKey, isOwnNonce } from '../areas/reporting/customer-portal/nonce.ts';
import { overviewPage } from '../areas/reporting/customer-portal/overview/page.ts';
import { findPayableOfPortal } from '../areas/reporting/customer-portal/queries.ts';
import { languageOf } from '../areas/reporting/customer-portal/texts/by-locale.ts';
import type { FaultName } from '../areas/reporting/customer-portal/texts/portal-texts.ts';
import { getOwnWallet, walletPage } from '../areas/reporting/customer-portal/wallet/page.ts';
import { readAmount, reviewPage } from '../areas/reporting/customer-portal/wallet/top-up.ts';
import type { Html } from '../platform/html.ts';
import { isUuid } from '../platform/ids.ts';
import { Refusal, refuse } from '../platform/refusal.ts';
import type { CommandAnswer } from './command-lane.ts';
import { idempotencyOf } from './idempotency-key.ts';
import { answering, countVisit, type LateVisit, type PortalDeps, sendPage, type Visit } from './portal-visit.ts';
import { requestIdOf } from './request-id.ts';

/** Forms of one customer in a minute. */
const FORMS_PER_MINUTE = 10;
/** The largest form: eleven fields of 255 letters. */
const BODY_MAX = '64kb';
const FIELDS_MAX = 60;

type Power = keyof Frame['settings']['allow'];

/** A form that was sent, by who may send it. */
interface Form {
  deps: PortalDeps;
  visit: Visit;
  nonce: string;
  fields: Readonly<Record<string, string>>;
}

/** The page that answers a form. */
interface Reply {
  status: number;
  text: string;
  headers?: Record<string, string>;
}

/** What a form does, where the seller allows it; `back` is the page that it stood on. */
interface Deed {
  power: Power | null;
  run(form: Form): Promise<Reply>;
  back(form: Form, said: Html): Promise<string>;
}

/** A write that has no answer yet. */
class Pending extends Error {}

/** Forms by their route below the token. Rule: portal.md#commands. */
const DEEDS: Readonly<Record<string, Deed>> = {
  '/invoices/:id/pay': { power: 'pay', run: payInvoice, back: backToInvoices },
  '/pay_overdue': { power: 'pay', run: payOverdue, back: backToOverview },
  '/wallets/:id/top_up': { power: 'top_up', run: reviewTopUp, back: backToWallet },
  '/wallets/:id/top_up/confirm': { power: 'top_up', run: confirmTopUp, back: backToWallet },
  '/wallets/:id/pay': { power: 'pay', run: payTopUp, back: backToWallet },
  '/payment_methods/new': { power: 'payment_methods', run: addMethod, back: backToMethods },
  '/payment_methods/:id/default': {
    power: 'payment_methods',
    run: (form) => changeMethod(form, 'portalDefaultMethod'),
    back: backToMethods,
  },
  '/payment_methods/:id/remove': {
    power: 'payment_methods',
    run: (form) => changeMethod(form, 'portalRemoveMethod'),
    back: backToMethods,
  },
  '/alerts': { power: 'alerts', run: addAlert, back: backToAlerts },
  '/alerts/:id/remove': { power: 'alerts', run: removeAlert, back: backToAlerts },
  '/details': { power: 'billing_data', run: changeDetails, back: backToDetails },
  '/language': { power: null, run: chooseLanguage, back: backToDetails },
};

/** The forms of the portal, and the button of a link that has expired. */
export function mountPortalCommands(root: Express, deps: PortalDeps): void {
  for (const [path, deed] of Object.entries(DEEDS))
    root.post(
      `${PORTAL_PATH}/:token${path}`,
      answering(deps, (visit) => answerForm(deps, visit, deed), { isInTime: false }),
    );
  root.post(
    `${PORTAL_PATH}/:token/link`,
    answering(deps, (visit) => sendLink(deps, visit), { isInTime: false }),
  );
}

async function answerForm(deps: PortalDeps, visit: Visit | LateVisit, deed: Deed): Promise<void> {
  if ('late' in visit) throw refuse.unauthorized();
  const { frame, request, response, secret, customer } = visit;
  await countVisit(deps.windows.forms, visit, FORMS_PER_MINUTE);
  const isAllowed = deed.power === null ? frame.mayAct : may(frame, deed.power);
  if (!isAllowed) return sendPage(response, 403, noticePage(frame.language, 'forbidden', addressOf(frame, '')));
  const { nonce = '', ...fields } = await readForm(request, response);
  const form: Form = { deps, visit, nonce, fields };
  try {
    const isOwn = isOwnNonce(nonce, secret, customer.id);
    const reply = isOwn ? await deed.run(form) : await refusedBy(form, deed, 'stale');
    sendPage(response, reply.status, reply.text, reply.headers);
  } catch (error) {
    if (!(error instanceof Pending)) throw error;
    sendPage(response, 202, pendingPage(frame, request.path.split(`${visit.token}/`)[1]!, { nonce, fields }));
  }
}

const refusedBy = async (form: Form, deed: Deed, fault: FaultName): Promise<Reply> => ({
  status: 422,
  text: await deed.back(form, saidOf(form.visit.frame.language.words.faults[fault], 'bad')),
});

const parseForm = express.urlencoded({ extended: false, limit: BODY_MAX, parameterLimit: FIELDS_MAX });

/** The fields of a form; one that was sent twice is none. @throws Refusal 413 */
async function readForm(request: Request, response: Response): Promise<Record<string, string>> {
  await new Promise<void>((resolve, reject) => {
    // What cannot be read is too large or of a strange encoding: no form of ours is.
    parseForm(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(refuse.tooLarge())));
  });
  const fields = Object.entries((request.body ?? {}) as Record<string, unknown>);
  return Object.fromEntries(fields.filter((each): each is [string, string] => typeof each[1] === 'string'));
}

/**
 * Runs a command with the customer as its actor: once, however often the same form is sent.
 *
 * @throws Pending, without an answer in time
 */
async function run(
  { deps, visit, nonce, fields }: Form,
  operation: string,
  input: object,
): Promise<CommandAnswer & { json: Record<string, unknown> }> {
  const { ctx, customer, request } = visit;
  deps.handOver.refuseIfInVain('writes');
  const answer = await deps.commands
    .run({
      operation,
      organization_id: ctx.organizationId,
      customer_key: `customer/${customer.external_id}`,
      sandbox: ctx.sandbox,
      api_key_id: null,
      source: 'front',
      portal: true,
      request_id: requestIdOf(request),
      input,
      idempotency: idempotencyOf({
        header: formKey(customer.id, nonce, fields),
        organizationId: ctx.organizationId,
        method: 'post',
        path: `${PORTAL_PATH}/${operation}`,
        query: {},
        body: input,
      }),
      // Without the token, which is a credential.
      request: { method: 'post', origin: '', path: PORTAL_PATH, client: null, parameters: null },
    })
    .catch((error: unknown) => {
      deps.metrics.portalCommands.inc({
        name: operation,
        status: String(error instanceof Refusal ? error.status : 500),
      });
      if (error instanceof Refusal && error.status === 504) throw new Pending();
      throw error;
    });
  deps.metrics.portalCommands.inc({ name: operation, status: String(answer.status) });
  return { ...answer, json: JSON.parse(answer.body === '' ? '{}' : answer.body) };
}

/** What a command of the portal says; a refusal is a fault of the form as a whole. */
async function outcomeOf(form: Form, operation: string, input: object): Promise<PortalOutcome['portal']> {
  const { status, json } = await run(form, operation, { customer_id: form.visit.customer.id, ...input });
  if (status === 404) throw refuse.notFound('record');
  return status === 200 ? (json as unknown as PortalOutcome).portal : { faults: { form: 'notNow' } };
}

/** Opens the provider's page of a payable, or our own, which knows other ways to pay. */
async function opened(
  form: Form,
  operation: string,
  { id, payable }: { id: string; payable?: { type: 'Invoice' | 'PaymentRequest'; id: string } },
): Promise<Reply | undefined> {
  const { visit } = form;
  const { status, json } = await run(form, operation, { svc_id: id });
  if (status === 200) {
    const [details] = Object.values(json as Record<string, { payment_url: string }>);
    const url = await awaitPage(visit.ctx, details!.payment_url).catch(() => undefined);
    if (url !== undefined && /^https?:\/\//.test(url)) return leadTo(visit.frame, url);
  }
  return payable && leadTo(visit.frame, await payLink(visit.ctx, payable));
}

/** Not a redirect: browsers hold redirects after a form to `form-action`. */
const leadTo = (frame: Frame, url: string): Reply => ({
  status: 200,
  text: openingPage(frame, url),
  headers: { Refresh: `0; url=${new URL(url).href}` },
});

async function payInvoice(form: Form): Promise<Reply> {
  const { visit } = form;
  const invoice = await findPayableOfPortal(visit.ctx, visit.customer.id, idIn(visit));
  if (!invoice) throw refuse.notFound('invoice');
  const { words } = visit.frame.language;
  if (invoice.under_way === 'processing')
    return { status: 200, text: await backToInvoices(form, saidOf(words.payment.underWay, 'wait')) };
  if (!invoice.is_to_pay)
    return { status: 200, text: await backToInvoices(form, saidOf(visit.frame.pay.nothingDue.title, 'wait')) };
  const payable = { type: 'Invoice', id: invoice.id } as const;
  if (invoice.under_way !== null) return leadTo(visit.frame, await payLink(visit.ctx, payable));
  return (await opened(form, 'invoicePaymentUrl', { id: invoice.id, payable }))!;
}

async function payOverdue(form: Form): Promise<Reply> {
  const { currency = '', billing_entity = '' } = form.fields;
  const outcome = await outcomeOf(form, 'portalPayOverdue', { currency, billing_entity });
  const id = outcome.svc_payment_request_id;
  if (id === undefined) return refusedBy(form, DEEDS['/pay_overdue']!, 'notNow');
  return (await opened(form, 'paymentRequestPaymentUrl', { id, payable: { type: 'PaymentRequest', id } }))!;
}

async function reviewTopUp(form: Form): Promise<Reply> {
  const { ctx, frame, customer } = form.visit;
  const wallet = await getOwnWallet(ctx, frame, idIn(form.visit));
  const { amount = '' } = form.fields;
  const read = readAmount(amount, wallet, frame.bounds(wallet));
  if ('fault' in read) return refusedTopUp(form, read.fault);
  const method = await findMethod(ctx, customer.id, null);
  const shown = {
    amountCents: read.amountCents,
    nonce: form.nonce,
    method: method && methodName(method, frame.language.words),
  };
  return { status: 200, text: reviewPage(standingOn(frame, `wallets/${wallet.id}`), wallet, shown) };
}

async function confirmTopUp(form: Form): Promise<Reply> {
  const { frame } = form.visit;
  const { amount = '' } = form.fields;
  const outcome = await outcomeOf(form, 'portalTopUp', { wallet_id: walletIn(form), amount });
  const fault = outcome.faults && (outcome.faults.amount ?? outcome.faults.form ?? 'notNow');
  if (fault) return refusedTopUp(form, fault);
  const charged = outcome.is_charged
    ? undefined
    : await opened(form, 'walletTransactionPaymentUrl', { id: outcome.svc_wallet_transaction_id! });
  return charged ?? { status: 200, text: await backToWallet(form, saidOf(frame.language.words.said.charging, 'wait')) };
}

/** Pays a purchase of credits whose charge was refused, or that nobody charged. */
async function payTopUp(form: Form): Promise<Reply> {
  const { ctx, frame } = form.visit;
  const wallet = await getOwnWallet(ctx, frame, idIn(form.visit));
  const { transaction = '' } = form.fields;
  const [found] = isUuid(transaction)
    ? await ctx.db`
        select from wallet_transactions
        where organization_id = ${ctx.organizationId} and wallet_id = ${wallet.id} and id = ${transaction}`
    : [];
  if (!found) throw refuse.notFound('wallet_transaction');
  const lead = await opened(form, 'walletTransactionPaymentUrl', { id: transaction });
  return lead ?? refusedBy(form, DEEDS['/wallets/:id/pay']!, 'notNow');
}

async function refusedTopUp(form: Form, fault: FaultName): Promise<Reply> {
  const { ctx, frame } = form.visit;
  const id = walletIn(form);
  const tried = { amount: form.fields.amount ?? '', fault };
  return { status: 422, text: await walletPage(ctx, standingOn(frame, `wallets/${id}`), { id, page: 1, tried }) };
}

async function addMethod(form: Form): Promise<Reply> {
  const { visit } = form;
  const { status, json } = await run(form, 'generateCustomerCheckoutURL', { external_id: visit.customer.external_id });
  const { customer } = json as { customer?: { checkout_url: string } };
  const url = status === 200 && (await awaitPage(visit.ctx, customer!.checkout_url).catch(() => undefined));
  return url && /^https?:\/\//.test(url)
    ? leadTo(visit.frame, url)
    : refusedBy(form, DEEDS['/payment_methods/new']!, 'notNow');
}

async function changeMethod(form: Form, operation: string): Promise<Reply> {
  if (!isUuid(idIn(form.visit))) throw refuse.notFound('payment_method');
  const { faults } = await outcomeOf(form, operation, { method_id: idIn(form.visit) });
  if (faults) return refusedBy(form, DEEDS['/payment_methods/new']!, faults.form ?? 'notNow');
  const { said } = form.visit.frame.language.words;
  return { status: 200, text: await backToMethods(form, saidOf(said.method)) };
}

async function addAlert(form: Form): Promise<Reply> {
  const { ctx, frame } = form.visit;
  const { subscription = '', metric = '', amount = '' } = form.fields;
  if (!isUuid(subscription)) throw refuse.notFound('subscription');
  const { faults } = await outcomeOf(form, 'portalAddAlert', { subscription_id: subscription, metric, amount });
  if (!faults) return { status: 200, text: await backToAlerts(form, saidOf(frame.language.words.said.alerts)) };
  const tried = { subscription, metric, amount, fault: faults.amount ?? faults.form ?? 'notNow' };
  return { status: 422, text: await alertsPage(ctx, standingOn(frame, 'alerts'), { page: 1, tried }) };
}

async function removeAlert(form: Form): Promise<Reply> {
  if (!isUuid(idIn(form.visit))) throw refuse.notFound('alert');
  await outcomeOf(form, 'portalRemoveAlert', { alert_id: idIn(form.visit) });
  return { status: 200, text: await backToAlerts(form, saidOf(form.visit.frame.language.words.said.alerts)) };
}

async function changeDetails(form: Form): Promise<Reply> {
  const { ctx, frame } = form.visit;
  const values = Object.fromEntries(
    DETAIL_FIELDS.flatMap(({ name }) => (form.fields[name] === undefined ? [] : [[name, form.fields[name]]])),
  );
  const { faults } = await outcomeOf(form, 'portalDetails', { values });
  if (!faults) return { status: 200, text: await backToDetails(form, saidOf(frame.language.words.said.saved)) };
  const said = faults.form ? saidOf(frame.language.words.faults[faults.form], 'bad') : undefined;
  const text = await detailsPage(ctx, standingOn(frame, 'details'), {
    tried: { values, faults },
    ...(said ? { said } : {}),
  });
  return { status: 422, text };
}

async function chooseLanguage(form: Form): Promise<Reply> {
  const { visit } = form;
  const { locale = '' } = form.fields;
  const { faults } = await outcomeOf(form, 'portalLanguage', { locale });
  if (faults) return refusedBy(form, DEEDS['/language']!, faults.form ?? 'notNow');
  const frame = visit.frameIn(locale);
  const said = saidOf(frame.language.words.said.saved);
  return { status: 200, text: await detailsPage(visit.ctx, standingOn(frame, 'details'), { said }) };
}

/** Always the same answer, whether a mail goes out or not. Rule: portal.md#links-that-have-expired. */
async function sendLink(deps: PortalDeps, visit: Visit | LateVisit): Promise<void> {
  const customer = 'late' in visit ? visit.late : visit.customer;
  const { request, response } = visit;
  if ((await deps.windows.forms.increment(customer.id)).totalHits > FORMS_PER_MINUTE) throw refuse.tooManyRequests();
  deps.handOver.refuseIfInVain('writes');
  const { status } = await deps.commands.run({
    operation: 'portalLink',
    organization_id: customer.organization_id,
    customer_key: `customer/${customer.external_id}`,
    sandbox: customer.sandbox,
    api_key_id: null,
    source: 'front',
    portal: true,
    request_id: requestIdOf(request),
    input: { customer_id: customer.id },
    idempotency: null,
    request: { method: 'post', origin: '', path: PORTAL_PATH, client: null, parameters: null },
  });
  deps.metrics.portalCommands.inc({ name: 'portalLink', status: String(status) });
  if (status !== 200) throw refuse.unavailable();
  sendPage(response, 200, noticePage(languageOf(customer), 'linkSent'));
}

const idIn = ({ request }: Visit): string => request.params.id as string;

/** @throws Refusal 404, of what is no id */
function walletIn({ visit }: Form): string {
  if (!isUuid(idIn(visit))) throw refuse.notFound('wallet');
  return idIn(visit);
}

/** The frame of a page that answers a form which stands elsewhere. */
const standingOn = (frame: Frame, path: string): Frame => ({ ...frame, path });

async function backToOverview({ visit: { ctx, frame } }: Form, said: Html): Promise<string> {
  return overviewPage(ctx, standingOn(frame, ''), { page: 1, said });
}

async function backToInvoices({ visit: { ctx, frame } }: Form, said: Html): Promise<string> {
  return documentsPage(ctx, standingOn(frame, 'invoices'), { list: 'invoices', query: new URLSearchParams(), said });
}

async function backToWallet(form: Form, said: Html): Promise<string> {
  const { ctx, frame } = form.visit;
  const id = walletIn(form);
  return walletPage(ctx, standingOn(frame, `wallets/${id}`), { id, page: 1, said });
}

async function backToMethods({ visit: { ctx, frame } }: Form, said: Html): Promise<string> {
  return methodsPage(ctx, standingOn(frame, 'payment_methods'), { said });
}

async function backToAlerts({ visit: { ctx, frame } }: Form, said: Html): Promise<string> {
  return alertsPage(ctx, standingOn(frame, 'alerts'), { page: 1, said });
}

async function backToDetails({ visit: { ctx, frame } }: Form, said: Html): Promise<string> {
  return detailsPage(ctx, standingOn(frame, 'details'), { said });
}
