import type { z } from 'zod';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { toWire, type WireTable } from '../../../engine/money/wire.ts';
import type { Config } from '../../config.ts';
import { newId } from '../../ids.ts';
import { Outage } from '../../refusal.ts';
import {
  type ChargeOutcome,
  CredentialsRefused,
  type PaymentProvider,
  ProviderConflict,
  ProviderRefusal,
} from '../port.ts';
import { notSupported, outcomeOfError, readState } from '../refused.ts';
import { type CustomTarget, customClient, type Sent } from '../signed-operations.ts';
import { Accepted, Checked, Methods, moneySaid, Page, PaymentAnswer, Payments, RefundAnswer } from './protocol.ts';

/** Payments of a page that is asked for. */
const PAGE = 100;

/**
 * A provider that anybody can connect: it answers the operations of our protocol. The queue repeats what has no answer,
 * with the same id. Rule: provider-connections.md#custom-provider.
 */
export function customProvider(target: CustomTarget, wire: WireTable, config: Config): PaymentProvider {
  const post = customClient(target, config);
  const once = (type: string) => `${type}-${newId()}`;
  /** The answer of an operation that cannot be answered later: one that is only accepted has said nothing. */
  const told = async <Shape extends z.ZodType>(sent: Sent, shape: Shape): Promise<z.infer<Shape>> => {
    const answer = await post(sent, shape);
    if (answer.isAccepted) throw new Outage(target.connection, new Error(`${sent.type}: no outcome yet`));
    return answer.body;
  };
  const money = (amountCents: number, currency: string) => ({
    amount: amountCents,
    currency,
    exponent: exponentOf(currency as Currency),
  });
  const page = async (type: 'setup_page.create' | 'payment_page.create', id: string, data: object) => {
    const { id: pageId, url } = await told({ type, id, data }, Page);
    return { id: pageId, url };
  };
  return {
    async check() {
      try {
        const { live } = await told(
          { type: 'check', id: once('check'), data: { inbound_url: target.inboundUrl } },
          Checked,
        );
        return { ok: true, live: live ?? target.isLive };
      } catch (error) {
        if (error instanceof ProviderRefusal || error instanceof CredentialsRefused)
          return { ok: false, error: error.error };
        throw error;
      }
    },
    async createCustomer({ idempotencyKey, ...customer }) {
      return (await told({ type: 'customer.create', id: idempotencyKey, data: customer }, Accepted)).id;
    },
    async charge(request) {
      if (!toWire(wire, request.amountCents, request.currency)) return notSupported(request.currency);
      const data = {
        ...money(request.amountCents, request.currency),
        provider_customer_id: request.providerCustomerId,
        provider_method_id: request.providerMethodId,
        description: request.description,
        metadata: request.metadata,
      };
      try {
        const answer = await post({ type: 'charge.create', id: request.idempotencyKey, data }, PaymentAnswer);
        return answer.isAccepted ? begun(answer.id) : outcomeOf(answer.body, target.connection);
      } catch (error) {
        if (error instanceof ProviderConflict) return { kind: 'conflict', error: error.error };
        if (error instanceof CredentialsRefused) return { kind: 'unreachable', error: error.error };
        return outcomeOfError(error, 'failed');
      }
    },
    async readPayment(id) {
      const sent = { type: 'payment.read', id: once('read'), data: { id } } as const;
      const answer = await readState(target.connection, () => post(sent, PaymentAnswer));
      return answer.isAccepted ? begun(id) : outcomeOf(answer.body, target.connection);
    },
    openPage({ idempotencyKey, providerCustomerId, methodTypes, successUrl, payment }) {
      const data = { provider_customer_id: providerCustomerId, method_types: methodTypes, success_url: successUrl };
      if (!payment) return page('setup_page.create', idempotencyKey, data);
      const { amountCents, currency, description, metadata } = payment;
      if (!toWire(wire, amountCents, currency)) throw new ProviderRefusal(notSupported(currency).error);
      return page('payment_page.create', idempotencyKey, {
        ...data,
        ...money(amountCents, currency),
        description,
        metadata,
      });
    },
    async expirePage(id) {
      await post({ type: 'page.expire', id: `expire-${id}`, data: { id } }, Accepted);
    },
    async cancel(id) {
      // Accepted is enough: what became of the payment is read, or comes by an event.
      await post({ type: 'payment.cancel', id: `cancel-${id}`, data: { id } }, PaymentAnswer);
    },
    async refund({ idempotencyKey, providerPaymentId, amountCents, currency, reason, metadata }) {
      const data = { payment_id: providerPaymentId, ...money(amountCents, currency), reason, metadata };
      const answer = await post({ type: 'refund.create', id: idempotencyKey, data }, RefundAnswer);
      if (answer.isAccepted) return { providerRefundId: answer.id, status: 'pending' };
      if (answer.body.status === 'failed' && answer.body.error) throw new ProviderRefusal(answer.body.error);
      return { providerRefundId: answer.body.id, status: answer.body.status };
    },
    async readRefund(id) {
      const sent = { type: 'refund.read', id: once('read'), data: { id } } as const;
      const answer = await readState(target.connection, () => post(sent, RefundAnswer));
      if (answer.isAccepted) return { status: 'pending' };
      const { status, error } = answer.body;
      return { status, ...(error ? { error } : {}) };
    },
    async listMethods(providerCustomerId, types) {
      const data = { provider_customer_id: providerCustomerId, types };
      const { methods } = await told({ type: 'methods.list', id: once('list'), data }, Methods);
      return methods
        .filter(({ type }) => types.includes(type))
        .map(({ id, type, details }) => ({ providerMethodId: id, methodType: type, details: details ?? {} }));
    },
    async listPayments({ sinceSeconds, untilSeconds, cursor }) {
      const until = typeof untilSeconds === 'number' ? { until: untilSeconds } : {};
      const data = { since: sinceSeconds, ...until, cursor, limit: PAGE };
      const { payments, next } = await told({ type: 'payments.list', id: once('list'), data }, Payments);
      const items = payments.map(({ id, status, amount, currency, metadata }) => {
        const paid = { currency: currency!.toUpperCase(), amountCents: amount! };
        const received = status === 'succeeded' ? { received: paid } : {};
        return { providerPaymentId: id, status, ...paid, ...received, metadata: metadata ?? {} };
      });
      return { items, next };
    },
  };
}

/** A payment that the provider has begun or knows, and whose outcome it tells by an event. */
const begun = (providerPaymentId: string) =>
  ({
    kind: 'answered',
    status: 'processing',
    paymentStatus: 'processing',
    providerPaymentId,
  }) satisfies ChargeOutcome;

/** @throws Outage, when a payment that was started has no id: nobody could recognise it later */
function outcomeOf(
  { id, status, amount, currency, error, next_action: nextAction }: PaymentAnswer,
  asked: string,
): ChargeOutcome {
  const fault = error ?? { code: status, message: status };
  if (status === 'amount_too_small') return { kind: 'amount_too_small', error: fault };
  if (status === 'authentication_required')
    return { kind: 'authentication_required', error: fault, ...(id === undefined ? {} : { providerPaymentId: id }) };
  if (id === undefined && status !== 'failed') throw new Outage(asked, new Error(`${status} without an id`));
  return {
    kind: 'answered',
    status,
    paymentStatus: status,
    providerPaymentId: id ?? null,
    received: moneySaid({ amount, currency }),
    ...(nextAction ? { nextAction } : {}),
    ...(status === 'failed' ? { error: fault } : {}),
  };
}
