import type { Db, Fragment } from '../../../../platform/db/connect.ts';
import { nameCan } from '../../../../platform/payments/providers.ts';

/** How an invoice is paid where its customer has a payment provider. */
export interface Charge {
  /** It waits for a payment by hand. */
  is_manual: boolean;
  /** The stored method that the invoice names, else the customer's default. */
  method: { provider: string; type: string; reference: string; last4: string | null } | null;
}

/** Column: the charge of `invoice`. A mandate has its own number where its provider gives one. */
export const chargeOfInvoice = (db: Db): Fragment => db`
  (select to_jsonb(charge)
   from (
     select invoice.skip_psp or coalesce(invoice.payment_method_type = 'manual', false) as is_manual,
       (select jsonb_build_object('provider', coalesce(provider.emulates, provider.provider_type),
           'type', method.method_type, 'reference', coalesce(method.details ->> 'mandate_reference',
             method.provider_method_id), 'last4', method.details ->> 'last4')
        from payment_methods method
        join payment_providers provider
          on provider.organization_id = method.organization_id and provider.id = method.payment_provider_id
        where method.organization_id = invoice.organization_id and method.customer_id = invoice.customer_id
          and method.deleted_at is null and (method.is_default or method.id = invoice.payment_method_id)
        order by method.is_default limit 1) as method) charge)`;

/** The SEPA mandate by which an invoice in a currency is charged; null for cards and everything else. */
export const mandateOf = ({ method }: Charge, currency: string): Charge['method'] =>
  method !== null && currency === 'EUR' && method.type !== 'card' && nameCan(method.provider, 'mandate')
    ? method
    : null;
