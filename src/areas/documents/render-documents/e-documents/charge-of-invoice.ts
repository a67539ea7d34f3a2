import type { Db, Fragment } from '../../../../platform/db/connect.ts';
import type { PaymentMethodId } from '../../../../platform/ids.ts';
import { nameCan } from '../../../../platform/payments/providers.ts';
import { firstWish, type MethodWish, wishesOfInvoice } from '../../../payments/collect-payments/wishes-of-invoice.ts';

/** A stored method with the reference of its mandate, where its provider gives one. */
interface StoredMethod {
  provider: string;
  type: string;
  mandate_reference: string | null;
  last4: string | null;
}

/** How an invoice is paid where its customer has a payment provider. */
export interface Charge {
  /** It waits for a payment by hand. */
  is_manual: boolean;
  /** The stored method that is charged by itself. */
  method: StoredMethod | null;
}

/** What is stored of the payment of an invoice. */
export interface ChargeSources {
  skip_psp: boolean;
  wishes: (MethodWish | null)[];
  /** The methods that wishes name, and the customer's default. */
  methods: (StoredMethod & { id: PaymentMethodId; is_default: boolean })[];
}

/** Column: what is stored of the payment of `invoice`. */
export const chargeOfInvoice = (db: Db): Fragment => db`
  (select jsonb_build_object('skip_psp', invoice.skip_psp, 'wishes', chosen.wishes, 'methods', (
     select coalesce(jsonb_agg(jsonb_build_object('id', method.id, 'is_default', method.is_default,
       'provider', coalesce(provider.emulates, provider.provider_type), 'type', method.method_type,
       'mandate_reference', method.details ->> 'mandate_reference', 'last4', method.details ->> 'last4')), '[]')
     from payment_methods method
     join payment_providers provider
       on provider.organization_id = method.organization_id and provider.id = method.payment_provider_id
     where method.organization_id = invoice.organization_id and method.customer_id = invoice.customer_id
       and method.deleted_at is null
       and (method.is_default
         or method.id::text in (select wish ->> 'id' from jsonb_array_elements(chosen.wishes) wish))))
   from (select ${wishesOfInvoice(db)} as wishes) chosen)`;

/**
 * How an invoice is charged, by the same wishes as its collection: those of the invoice before those of its first
 * subscription, else the customer's default, also where the named method was discarded since.
 *
 * Rule: payments.md#payment-methods.
 */
export function chargeOf({ skip_psp, wishes, methods }: ChargeSources): Charge {
  const wish = firstWish(wishes);
  if (skip_psp || wish?.type === 'manual') return { is_manual: true, method: null };
  const named = methods.find(({ id }) => id === wish?.id);
  const method = named ?? methods.find((each) => each.is_default);
  if (!method || !nameCan(method.provider, 'off_session_charge')) return { is_manual: false, method: null };
  const { provider, type, mandate_reference, last4 } = method;
  return { is_manual: false, method: { provider, type, mandate_reference, last4 } };
}

/** The SEPA mandate by which an invoice in a currency is charged; null for cards and everything else. */
export function mandateOf({ method }: Charge, currency: string): { reference: string; last4: string | null } | null {
  if (method === null || currency !== 'EUR' || method.type === 'card' || !nameCan(method.provider, 'mandate'))
    return null;
  // Without the reference that the payer signed the document would name a mandate that nobody knows.
  return method.mandate_reference === null ? null : { reference: method.mandate_reference, last4: method.last4 };
}
