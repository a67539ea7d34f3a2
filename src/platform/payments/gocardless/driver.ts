import { randomUUID } from 'node:crypto';
import { toWire } from '../../../engine/money/wire.ts';
import { Outage } from '../../refusal.ts';
import {
  type ChargeOutcome,
  type ChargeRequest,
  type PaymentProvider,
  ProviderConflict,
  ProviderRefusal,
} from '../port.ts';
import { notSupported, outcomeOfError, readState, TOO_SMALL } from '../refused.ts';
import { accountOf, normalScheme, readAccount } from './account.ts';
import { Flow, Named, Payment, Refund } from './answers.ts';
import { GocardlessRefusal, type GocardlessTarget, gocardlessClient, PROVIDER } from './client.ts';
import { gocardlessLists, moneyOf, refundsOf } from './lists.ts';
import { stateOf } from './states.ts';
import { GOCARDLESS_WIRE } from './wire.ts';

/** How long the reference of a payment may be that banks print. */
const REFERENCE_MAX: Readonly<Record<string, number>> = { bacs: 10, sepa: 140 };
const REFERENCE_MAX_ELSEWHERE = 18;
/** How many characters a name of a customer and the description of a payment may have. */
const NAME_MAX = 100;
const DESCRIPTION_MAX = 100;

export interface GocardlessOptions extends GocardlessTarget {
  settings: Readonly<Record<string, unknown>>;
}

const CONFLICT = {
  code: 'idempotency_conflict',
  message: 'GoCardless made something else with this key.',
};
const NO_REFUNDS = { code: 'refund_not_enabled', message: 'GoCardless has not enabled refunds for this account.' };

/**
 * GoCardless, which collects by mandates on bank accounts. The queue repeats what has no answer with the same key;
 * GoCardless refuses the repetition and names what the first one made, which is then read.
 * Rule: provider-connections.md#gocardless.
 */
export function gocardlessProvider(options: GocardlessOptions): PaymentProvider {
  const client = gocardlessClient(options);
  const account = () => accountOf(options.accessToken, client);

  const outcomeOf = (payment: Payment): ChargeOutcome => ({
    kind: 'answered',
    status: payment.status,
    paymentStatus: stateOf(payment.status, options.settings),
    providerPaymentId: payment.id,
    received: moneyOf(payment.amount, payment.currency),
    ...(payment.charge_date ? { expectedSettlementDate: payment.charge_date } : {}),
  });

  /** The first letters of the invoice's number, where the account may name its payments. */
  async function referenceOf({ methodDetails, description }: ChargeRequest): Promise<{ reference?: string }> {
    const scheme = normalScheme(methodDetails?.scheme ?? '');
    if (scheme === '' || !(await account()).ownSchemes.has(scheme)) return {};
    return { reference: description.slice(0, REFERENCE_MAX[scheme] ?? REFERENCE_MAX_ELSEWHERE) };
  }

  async function charge(request: ChargeRequest, mandate: string, wire: number): Promise<ChargeOutcome> {
    const fields = {
      amount: wire,
      currency: request.currency,
      description: request.description.slice(0, DESCRIPTION_MAX),
      metadata: request.metadata,
      links: { mandate },
      ...(await referenceOf(request)),
    };
    try {
      return outcomeOf(await client.create('payments', Payment, { fields, key: request.idempotencyKey }));
    } catch (error) {
      if (!(error instanceof GocardlessRefusal)) throw error;
      const { conflictingId } = error;
      if (conflictingId !== undefined) {
        const made = await readState(PROVIDER, () => client.read('payments', Payment, conflictingId));
        const isOurs = made.amount === wire && made.currency === request.currency;
        const isSame = isOurs && made.metadata?.payment_id === request.metadata.payment_id;
        return isSame ? outcomeOf(made) : { kind: 'conflict', error: CONFLICT };
      }
      // Nothing was made under the key, so the mandate that took its place is charged with the same one.
      if (error.newMandateId !== undefined && error.newMandateId !== mandate)
        return charge(request, error.newMandateId, wire);
      throw error;
    }
  }

  return {
    ...gocardlessLists(client),
    async check() {
      try {
        await readAccount(client);
        return { ok: true, live: options.isLive };
      } catch (error) {
        if (error instanceof ProviderRefusal) return { ok: false, error: error.error };
        throw error;
      }
    },
    async createCustomer({ idempotencyKey, name, email, metadata }) {
      // A customer needs a name there, and a company has one only.
      const company = (name ?? metadata.external_customer_id ?? idempotencyKey).slice(0, NAME_MAX);
      const fields = { company_name: company, ...(email ? { email } : {}), metadata };
      try {
        return (await client.create('customers', Named, { fields, key: idempotencyKey })).id;
      } catch (error) {
        if (error instanceof GocardlessRefusal && error.conflictingId !== undefined) return error.conflictingId;
        throw error;
      }
    },
    async charge(request) {
      const amount = toWire(GOCARDLESS_WIRE, request.amountCents, request.currency);
      if (!amount) return notSupported(request.currency);
      if (amount.wire === 0) return { kind: 'amount_too_small', error: TOO_SMALL };
      try {
        return await charge(request, request.providerMethodId, amount.wire);
      } catch (error) {
        return outcomeOfError(error, 'failed');
      }
    },
    async readPayment(id) {
      return readState(PROVIDER, async () => outcomeOf(await client.read('payments', Payment, id)));
    },
    async openPage({ idempotencyKey, providerCustomerId, successUrl, currency, metadata }) {
      const mandate = { currency: currency ?? (await account()).currency, metadata: metadata ?? {} };
      const fields = { mandate_request: mandate, links: { customer: providerCustomerId } };
      const request = await client
        .create('billing_requests', Named, { fields, key: idempotencyKey })
        .catch((error: unknown) => {
          if (error instanceof GocardlessRefusal && error.conflictingId !== undefined)
            return { id: error.conflictingId };
          throw error;
        });
      // A flow cannot be read again; a second one of the same request is another way to the same mandate.
      const flow = await client.create('billing_request_flows', Flow, {
        fields: { redirect_uri: successUrl, exit_uri: successUrl, links: { billing_request: request.id } },
        key: randomUUID(),
      });
      return { id: request.id, url: flow.authorisation_url };
    },
    async expirePage(id) {
      await client.act('billing_requests', id, { action: 'cancel', key: `expire-${id}` });
    },
    async cancel(id) {
      await client.act('payments', id, { action: 'cancel', key: `cancel-${id}` });
    },
    async refund({ idempotencyKey, providerPaymentId, amountCents, currency, metadata }) {
      const amount = toWire(GOCARDLESS_WIRE, amountCents, currency);
      if (!amount) throw new ProviderRefusal(notSupported(currency).error);
      const resultOf = (refund: Refund) => ({ providerRefundId: refund.id, status: refund.status ?? 'created' });
      const isOurs = (refund: Refund) => refund.metadata?.credit_note_id === metadata.credit_note_id;
      // One that was made before must be found first: its repetition would confirm another total.
      const before = await refundsOf(client, providerPaymentId);
      const made = before.find(isOurs);
      if (made) return resultOf(made);
      if (!(await account()).canRefund) throw new ProviderRefusal(NO_REFUNDS);
      const paid = await client.read('payments', Payment, providerPaymentId);
      const fields = {
        amount: amount.wire,
        total_amount_confirmation: (paid.amount_refunded ?? 0) + amount.wire,
        metadata,
        links: { payment: providerPaymentId },
      };
      try {
        return resultOf(await client.create('refunds', Refund, { fields, key: idempotencyKey }));
      } catch (error) {
        if (!(error instanceof GocardlessRefusal)) throw error;
        const { conflictingId } = error;
        if (conflictingId !== undefined) {
          const first = await readState(PROVIDER, () => client.read('refunds', Refund, conflictingId));
          if (first.amount === amount.wire && isOurs(first)) return resultOf(first);
          throw new ProviderConflict(CONFLICT);
        }
        // Another refund of the payment was faster; the next attempt confirms the total with it.
        if (error.error.code === 'total_amount_confirmation_invalid') throw new Outage(PROVIDER, error);
        if (error.error.code === 'feature_disabled') throw new ProviderRefusal(NO_REFUNDS);
        throw error;
      }
    },
    async readRefund(id) {
      const { status } = await readState(PROVIDER, () => client.read('refunds', Refund, id));
      return { status: status ?? 'created' };
    },
  };
}
