import { announcement } from '../../platform/reactions.ts';
import type { BillingEntityRow } from './billing-entities/queries.ts';
import type { CustomerRow } from './customers/queries.ts';
import type { ProviderRow } from './payment-providers/queries.ts';

/** What happens to customers and their issuers that other areas have to follow; who does is in src/reactions.ts. */

export const customerDeleted = announcement<{ customer_id: string }>('customer.deleted');

/** The time zone of one customer changed, or of a billing entity whose customers have none of their own. */
export const timezoneChanged = announcement<{ customer_id: string } | { billing_entity_id: string }>(
  'timezone.changed',
);

/** What a call wishes for the dunning of a customer that it made or changed. */
export const dunningOfCustomerWished = announcement<{
  customer: Pick<CustomerRow, 'id' | 'account_type'>;
  wish: {
    dunning_campaign_code?: string | null | undefined;
    exclude_from_dunning_campaign?: boolean | undefined;
  };
}>('customer.dunning_wished');

/** The dunning campaign that a call wishes for a billing entity; null = none. */
export const dunningOfEntityWished = announcement<{
  billing_entity: Pick<BillingEntityRow, 'id'>;
  dunning_campaign_code: string | null;
}>('billing_entity.dunning_wished');

/** A customer was made at a provider where it has to store a way to pay first. */
export const paymentMethodWanted = announcement<{ customer: CustomerRow; provider: ProviderRow }>(
  'customer.payment_method_wanted',
);

/** Hosted pages of a connection no longer show what its settings say. */
export const pagesOfProviderOutdated = announcement<{ payment_provider_id: string }>('payment_provider.pages_outdated');

export const providerDeleted = announcement<{ payment_provider_id: string }>('payment_provider.deleted');

/** The link of a customer with its payment provider ended. */
export const customerLeftProvider = announcement<{ customer_id: string }>('customer.left_provider');

/** What is known about a number after a check: the register's data of a valid one. Rule: eu-taxes.md. */
export type CheckedNumber = { valid: boolean; valid_format: boolean; error?: string } & Record<string, unknown>;

/** A VAT number of a customer was checked, by its form or in the register. */
export const vatNumberChecked = announcement<{ customer: CustomerRow; check: CheckedNumber }>('vat_number.checked');
