import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type {
  CustomerId,
  InboundEventId,
  InvoiceId,
  PaymentId,
  PaymentMethodId,
  PaymentProviderId,
} from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import type { ProviderEvent } from '../../../platform/payments/port.ts';
import { descriptorOf, paymentStateOf, wordsOf } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findRefundAtProvider } from '../../credits/credit-notes/refunds.ts';
import { oweMethods } from '../../customers/customers/announce-link.ts';
import {
  describeMethod,
  discardMethod,
  ensureDefault,
  renameMethod,
  storeMethod,
} from '../../customers/payment-methods/writes.ts';
import { findProviderById, idsOfSameAccount, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { noteDisputeLost } from '../../invoices/invoices/commands/lose-dispute.ts';
import { listInvoicesByIds, readInvoice } from '../../invoices/invoices/queries.ts';
import { listOpenEventsNaming } from '../inbound-events/queries.ts';
import { dueOfRequest } from '../payment-requests/due-of-request.ts';
import { findRequest } from '../payment-requests/queries.ts';
import type { PaymentRow } from '../payments/queries.ts';
import { changePayment, insertPayment, lockPayables } from '../payments/writes.ts';
import { applyRefund } from '../refund-notes/apply-refund.ts';
import { applyAnswer, lockPayment } from './apply-outcome.ts';
import { LOOK_AFTER_JOB } from './customer-returns.ts';
import { followRefundOfDrift } from './follow-refund-of-drift.ts';
import { oweUncharged } from './import-methods.ts';
import { differenceOf, figuresOf, noteOtherMoney } from './other-money.ts';
import { isTransferWanted } from './renew-transfers.ts';

interface StoredEvent {
  id: InboundEventId;
  connection_id: string;
  event_type: string;
  payload: Record<string, unknown>;
  status: string;
  also_signed_by: PaymentProviderId[] | null;
}

/**
 * Step `handle-provider-event`: handles a stored event of a provider, once. An event about an unknown object is
 * ignored; one that lacks what its type has to say stays open, where a person finds it.
 *
 * Rules: payments.md#providers, provider-connections.md#inbound-events.
 */
export async function handleProviderEvent(
  ctx: Context,
  { inbound_event_id: id }: { inbound_event_id: InboundEventId },
): Promise<void> {
  const { db, organizationId } = ctx;
  const [event] = await db<StoredEvent[]>`
    select id, connection_id, event_type, payload, status, also_signed_by from inbound_events
    where organization_id = ${organizationId} and id = ${id} for update`;
  if (!event || event.status === 'succeeded') return;
  const found = await findProviderById(ctx, event.connection_id);
  const provider = found && { ...found, also_signed_by: event.also_signed_by ?? [] };
  if (provider) await applyEvent(ctx, provider, parse(provider, event.payload));
  await db`
    update inbound_events set status = 'succeeded', attempts = attempts + 1, updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${id}`;
}

const parse = (provider: ProviderRow, payload: Record<string, unknown>): ProviderEvent =>
  descriptorOf(provider.provider_type)?.inbound.parse(payload) ?? { kind: 'ignored' };

/**
 * Gives what a provider reports its effect, once: by an event, or as it is found when both sides are compared.
 *
 * @throws Refusal 405 event_malformed, event_not_supported, payment_not_handled_yet
 */
export async function applyEvent(ctx: Context, provider: ProviderRow, event: ProviderEvent): Promise<void> {
  const { db, organizationId } = ctx;
  switch (event.kind) {
    case 'payment': {
      const paymentId =
        (await findPayment(ctx, provider, {
          providerPaymentId: event.providerPaymentId,
          ownId: event.metadata.payment_id,
        })) ?? (await paymentOfPage(ctx, provider, event));
      if (!paymentId) return;
      const payment = await lockPayment(ctx, paymentId);
      const difference = differenceOf(event, payment.amount_currency, payment.amount_cents);
      if (difference)
        return noteOtherMoney(ctx, provider, event, {
          kind: difference,
          paymentId,
          customerId: payment.customer_id,
          ours: figuresOf(payment),
        });
      await applyAnswer(
        ctx,
        payment,
        {
          kind: 'answered',
          status: event.status,
          paymentStatus: paymentStateOf(provider, event.status),
          providerPaymentId: event.providerPaymentId,
          ...(event.transferTo ? { nextAction: event.transferTo } : {}),
          ...(event.error ? { error: event.error } : {}),
        },
        { isEvent: true, reportedAt: instantOf(event) },
      );
      return;
    }
    case 'payment_reversed': {
      const payment = await findAndLock(ctx, provider, event.providerPaymentId);
      if (!payment) await demandNoneBefore(ctx, provider, event.providerPaymentId);
      else
        await applyAnswer(
          ctx,
          payment,
          { ...event, kind: 'answered', paymentStatus: 'failed' },
          { isEvent: true, isReturn: true, reportedAt: instantOf(event) },
        );
      return;
    }
    case 'amounts_changed': {
      const payment = await findAndLock(ctx, provider, event.providerPaymentId);
      if (payment?.payment_status === 'processing')
        ctx.after({ nudge: LOOK_AFTER_JOB, payload: { payment_id: payment.id } });
      return;
    }
    case 'refund': {
      const refund = await findRefundAtProvider(ctx, provider, {
        providerRefundId: event.providerRefundId,
        noteId: event.metadata.credit_note_id,
      });
      if (!refund) {
        const driftId = event.metadata.credit_note_id ?? '';
        return followRefundOfDrift(ctx, provider, { ...event, driftId });
      }
      const refundStatus = refundStatusOf(wordsOf(provider), event.status);
      await applyRefund(ctx, refund, { ...event, refundStatus }, { isEvent: true, isReturn: event.isReturn === true });
      return;
    }
    case 'dispute_closed': {
      const payment = event.isLost ? await findAndLock(ctx, provider, event.providerPaymentId) : undefined;
      if (event.isLost && !payment) await demandNoneBefore(ctx, provider, event.providerPaymentId);
      for (const { id } of payment?.invoices ?? []) await noteDisputeLost(ctx, await readInvoice(ctx, id));
      return;
    }
    case 'method_attached': {
      const [customer] = await db<{ id: CustomerId; payment_provider_id: PaymentProviderId }[]>`
        select id, payment_provider_id from customers
        where organization_id = ${organizationId} and payment_provider_id in ${idsOfSameAccount(ctx, provider)}
          and provider_customer_id = ${event.providerCustomerId} and deleted_at is null
        order by payment_provider_id = ${provider.id} desc limit 1 for no key update`;
      if (!customer) return;
      const known = await findMethods(ctx, provider, event.providerMethodId);
      await storeMethod(ctx, {
        customerId: customer.id,
        providerId: customer.payment_provider_id,
        providerCustomerId: event.providerCustomerId,
        providerMethodId: event.providerMethodId,
        type: event.methodType,
        details: event.details,
        isDefault: true,
        now: ctx.now(),
      });
      if (event.isGuessed && known.length === 0) await oweMethods(ctx, customer.id, { keepsDefault: true });
      await oweUncharged(ctx, customer.id);
      return;
    }
    case 'method_detached': {
      for (const { id } of await findMethods(ctx, provider, event.providerMethodId))
        await discardMethod(ctx, id, ctx.now());
      return;
    }
    case 'mandate_changed': {
      if (event.isActive) return;
      for (const { id, customer_id } of await findMethods(ctx, provider, event.providerMethodId)) {
        await discardMethod(ctx, id, ctx.now());
        await ensureDefault(ctx, customer_id, ctx.now());
      }
      return;
    }
    case 'method_replaced': {
      for (const { id } of await findMethods(ctx, provider, event.providerMethodId))
        await renameMethod(ctx, id, { providerMethodId: event.newMethodId, now: ctx.now() });
      return;
    }
    case 'methods_changed': {
      const customerId = await customerOfMethods(ctx, provider, event);
      if (customerId !== undefined) await oweMethods(ctx, customerId, { keepsDefault: false });
      return;
    }
    case 'method_changed': {
      for (const { id } of await findMethods(ctx, provider, event.providerMethodId))
        await describeMethod(ctx, id, { type: event.methodType, details: event.details, now: ctx.now() });
      return;
    }
    case 'malformed':
      throw refuse.notAllowed('event_malformed');
    case 'unknown':
      throw refuse.notAllowed('event_not_supported');
    // An open dispute moves no money yet; the stored event says that there is one.
    default:
  }
}

/**
 * A payment that is unknown may be reported by an event that came before and is not handled yet: then what undoes the
 * payment stays open, and is handled again after it.
 *
 * @throws Refusal 405 payment_not_handled_yet
 */
async function demandNoneBefore(ctx: Context, provider: ProviderRow, providerPaymentId: string): Promise<void> {
  const open = await listOpenEventsNaming(ctx, providerPaymentId);
  const isReported = open.some(({ connection_id, payload }) => {
    const event = connection_id === provider.id ? parse(provider, payload) : undefined;
    return event?.kind === 'payment' && event.providerPaymentId === providerPaymentId;
  });
  if (isReported) throw refuse.notAllowed('payment_not_handled_yet');
}

const instantOf = ({ reportedAt }: { reportedAt?: string }): Temporal.Instant | undefined =>
  reportedAt === undefined ? undefined : Temporal.Instant.from(reportedAt);

const findMethods = (ctx: Context, provider: ProviderRow, providerMethodId: string) => ctx.db<
  { id: PaymentMethodId; customer_id: CustomerId }[]
>`
  select id, customer_id from payment_methods
  where organization_id = ${ctx.organizationId} and payment_provider_id = ${provider.id}
    and provider_method_id = ${providerMethodId} and deleted_at is null`;

/** The customer of an event about methods: of this connection, by what the event says of it. */
async function customerOfMethods(
  ctx: Context,
  provider: ProviderRow,
  event: Extract<ProviderEvent, { kind: 'methods_changed' }>,
): Promise<CustomerId | undefined> {
  const { providerCustomerId: there = null, ownCustomerId: ours = null, providerMethodId: method = null } = event;
  const [customer] = await ctx.db<{ id: CustomerId }[]>`
    select id from customers
    where organization_id = ${ctx.organizationId} and payment_provider_id = ${provider.id} and deleted_at is null
      and provider_customer_id is not null
      and (provider_customer_id = ${there} or id::text = ${ours} or id in (
        select customer_id from payment_methods
        where organization_id = ${ctx.organizationId} and payment_provider_id = ${provider.id}
          and provider_method_id = ${method}))
    order by (provider_customer_id = ${there}) desc nulls last limit 1 for no key update`;
  return customer?.id;
}

async function findAndLock(
  ctx: Context,
  provider: ProviderRow,
  providerPaymentId: string,
): Promise<PaymentRow | undefined> {
  const id = await findPayment(ctx, provider, { providerPaymentId, ownId: undefined });
  return id === undefined ? undefined : lockPayment(ctx, id);
}

/** A payment of the same account, found by the provider's id, else by our id that was sent along. */
async function findPayment(
  ctx: Context,
  provider: ProviderRow,
  { providerPaymentId, ownId }: { providerPaymentId: string; ownId: string | undefined },
): Promise<string | undefined> {
  const [row] = await ctx.db<{ id: PaymentId }[]>`
    select id from payments
    where organization_id = ${ctx.organizationId} and payment_provider_id in ${idsOfSameAccount(ctx, provider)}
      and (provider_payment_id = ${providerPaymentId} or (provider_payment_id is null and id::text = ${ownId ?? ''}))
    order by provider_payment_id is null, payment_provider_id <> ${provider.id} limit 1`;
  return row?.id;
}

/** Words of payments on pages by which no money is on its way: the customer has still to act, or we have. */
const NOT_ON_ITS_WAY = ['requires_action', 'requires_confirmation', 'requires_capture'];

/** Whether the money of a payment that is in progress, by its provider's word, comes without anybody's doing. */
export const isOnItsWay = (word: string): boolean => !NOT_ON_ITS_WAY.includes(word);

/**
 * A payment that began on a hosted page is found by what the page was opened for: its row is created once its money is
 * on its way, so that nothing else is charged meanwhile, or has come in, with the amount that the provider states, else
 * the due one. A transfer of another amount than the due one, or beside another payment, is given up at once.
 * Rules: payments.md#providers, payments.md#charged-on-line.
 */
async function paymentOfPage(
  ctx: Context,
  provider: ProviderRow,
  event: Extract<ProviderEvent, { kind: 'payment' }>,
): Promise<string | undefined> {
  const state = paymentStateOf(provider, event.status);
  const isTransfer = event.transferTo !== undefined;
  if (state === 'failed' || !(isOnItsWay(event.status) || isTransfer)) return undefined;
  const payable = await payableOfPage(ctx, event.metadata);
  if (!payable) return undefined;
  const received = { ...event.asked, ...event.received };
  const kind = differenceOf({ received }, payable.currency);
  const about = { paymentId: null, customerId: payable.customerId, ours: null };
  if (kind) return noteOtherMoney(ctx, provider, { ...event, received }, { kind, ...about });
  await lockPayables(ctx, payable.customerId, payable.invoiceIds);
  const amountCents = received.amountCents ?? (await dueOfRequest(ctx, { invoice_ids: payable.invoiceIds }));
  const asked = { payable_type: payable.type, payable_id: payable.id, amount_cents: amountCents };
  const isWanted = !isTransfer || (await isTransferWanted(ctx, asked, payable.invoiceIds));
  const id = newId();
  const isNew = await insertPayment(ctx, {
    id,
    customerId: payable.customerId,
    payable: { type: payable.type, id: payable.id },
    type: 'provider',
    amountCents,
    currency: payable.currency,
    status: isWanted ? event.status : 'canceled',
    // One that succeeded is not marked as in progress, because another payment of the same invoices may be.
    paymentStatus: state === 'processing' && isWanted ? 'processing' : 'failed',
    provider: { id: await openerOfPage(ctx, provider, payable), customerId: null, methodId: null, isTransfer },
    invoiceIds: payable.invoiceIds,
    createdAt: ctx.now(),
    now: ctx.now(),
  });
  // The answer that is applied to it next tells its id there, by which it is cancelled.
  if (isNew && !isWanted) await changePayment(ctx, id, { change: { cancel_owed_at: ctx.now() }, now: ctx.now() });
  return isNew ? id : undefined;
}

/**
 * The connection that opened a page, by which its payment is refunded: several of one account may have one address for
 * events, as those of one company at Adyen. Without a page that we know it is the one that was told.
 */
async function openerOfPage(
  ctx: Context,
  provider: ProviderRow,
  { type, id }: Pick<PaidOnPage, 'type' | 'id'>,
): Promise<PaymentProviderId> {
  const [page] = await ctx.db<{ payment_provider_id: PaymentProviderId }[]>`
    select payment_provider_id from payment_pages
    where organization_id = ${ctx.organizationId} and payable_id = ${id} and payable_type = ${type}
      and payment_provider_id in ${idsOfSameAccount(ctx, provider)}
    order by payment_provider_id = ${provider.id} desc, created_at desc limit 1`;
  return page?.payment_provider_id ?? provider.id;
}

interface PaidOnPage {
  type: 'Invoice' | 'PaymentRequest';
  id: string;
  customerId: CustomerId;
  currency: string;
  invoiceIds: readonly InvoiceId[];
}

/** What a page was opened for; undefined if its metadata are not ours. */
async function payableOfPage(
  ctx: Context,
  { payable_type: type, payable_id: id = '' }: Readonly<Record<string, string | undefined>>,
): Promise<PaidOnPage | undefined> {
  if (!isUuid(id)) return undefined;
  if (type === 'PaymentRequest') {
    const request = await findRequest(ctx, id);
    return (
      request && {
        type,
        id,
        customerId: request.customer_id,
        currency: request.amount_currency,
        invoiceIds: request.invoice_ids,
      }
    );
  }
  const [invoice] = type === 'Invoice' ? await listInvoicesByIds(ctx, [id]) : [];
  return (
    invoice && {
      type: 'Invoice',
      id,
      customerId: invoice.customer_id,
      currency: invoice.currency,
      invoiceIds: [invoice.id],
    }
  );
}
