import type { BillingEntityId, CustomerId, IntegrationId, PaymentProviderId } from '../../platform/ids.ts';
import { announcement } from '../../platform/reactions.ts';
import type { BillingEntityRow } from './billing-entities/queries.ts';
import type { CustomerRow } from './customers/queries.ts';
import type { ProviderRow } from './payment-providers/queries.ts';

/** Events in this area that other areas have to follow; src/reactions.ts names who does. */

export const customerDeleted = announcement<{ customer_id: CustomerId }>('customer.deleted');

/** The time zone of one customer changed, or of a billing entity whose customers have none of their own. */
export const timezoneChanged = announcement<{ customer_id: CustomerId } | { billing_entity_id: BillingEntityId }>(
  'timezone.changed',
);

/** The dunning settings that a request gives to the customer it created or changed. */
export const dunningOfCustomerWished = announcement<{
  customer: Pick<CustomerRow, 'id' | 'account_type'>;
  wish: {
    dunning_campaign_code?: string | null | undefined;
    exclude_from_dunning_campaign?: boolean | undefined;
  };
}>('customer.dunning_wished');

/** The dunning campaign that a request gives to a billing entity; null removes it. */
export const dunningOfEntityWished = announcement<{
  billing_entity: Pick<BillingEntityRow, 'id'>;
  dunning_campaign_code: string | null;
}>('billing_entity.dunning_wished');

/** A customer was created at a provider where it must store a payment method first. */
export const paymentMethodWanted = announcement<{
  customer: CustomerRow;
  provider: ProviderRow;
  /** Address of the page for it, where the provider has opened one. */
  checkoutUrl?: string;
}>('customer.payment_method_wanted');

/** A customer who pays without a stored method was linked to its provider, or chose to pay like that. */
export const customerNeedsNoMethod = announcement<{ customer_id: CustomerId }>('customer.needs_no_method');

/** Hosted pages of a connection are outdated because its settings changed. */
export const pagesOfProviderOutdated = announcement<{ payment_provider_id: PaymentProviderId }>(
  'payment_provider.pages_outdated',
);

export const providerDeleted = announcement<{ payment_provider_id: PaymentProviderId }>('payment_provider.deleted');

/** The link of a customer with its payment provider ended. */
export const customerLeftProvider = announcement<{ customer_id: CustomerId }>('customer.left_provider');

/** The outcome of checking a number, with the register's data for a valid one. Rule: eu-taxes.md. */
export type CheckedNumber = { valid: boolean; valid_format: boolean; error?: string } & Record<string, unknown>;

/** A VAT number of a customer was checked, by its form or in the register. */
export const vatNumberChecked = announcement<{ customer: CustomerRow; check: CheckedNumber }>('vat_number.checked');

/** What a tax engine is told changed: the address of a customer, or the mappings of a connection, or it ended. */
export const taxFactsChanged = announcement<{ customer_id: CustomerId } | { integration_id: IntegrationId }>(
  'tax_facts.changed',
);

/** A connection to another system that was failing, or that nobody had tried, works. */
export const connectionWorks = announcement<{ integration_id: IntegrationId }>('integration.works');
