import type { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import { type Decimal, decimalText } from '../../../engine/money/decimal.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import { linesToSend } from '../../../engine/taxes/provider/lines-to-send.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, IntegrationId } from '../../../platform/ids.ts';
import type { TaxDocument } from '../../../platform/taxes/port.ts';
import { listMappings, type MappingRow } from '../../customers/integrations/queries.ts';
import type { MappedType } from '../../customers/integrations/schema.ts';

/** The names that an engine has for what is sold, by type and code, so that finding one costs the same among many. */
type Mappings = ReadonlyMap<string, string>;

const keyOf = ({ resource_type, resource_code }: Pick<MappingRow, 'resource_type' | 'resource_code'>): string =>
  `${resource_type}:${resource_code}`;

/** The facts that every document of a customer shares. */
export interface DocumentFacts {
  integration_id: IntegrationId;
  timezone: string;
  customer: TaxDocument['customer'];
  seller: TaxDocument['seller'];
  mappings: Mappings;
}

/** Facts for documents of a customer that an engine taxes; undefined for any other. */
export async function readDocumentFacts(
  scope: Scope,
  customerId: CustomerId,
  billingEntityId: BillingEntityId,
): Promise<DocumentFacts | undefined> {
  const { db, organizationId } = scope;
  const [row] = await db<Omit<DocumentFacts, 'mappings'>[]>`
    select link.integration_id, entity.timezone,
      json_build_object('id', link.external_customer_id, 'name', coalesce(customer.legal_name, customer.name),
        'shipping', json_build_object('country', customer.shipping_country,
          'line1', customer.shipping_address_line1, 'city', customer.shipping_city,
          'region', customer.shipping_state, 'postalCode', customer.shipping_zipcode),
        'billing', json_build_object('country', customer.country, 'line1', customer.address_line1,
          'city', customer.city, 'region', customer.state, 'postalCode', customer.zipcode),
        'taxIds', case when nullif(customer.tax_identification_number, '') is null then json_build_array()
          else json_build_array(customer.tax_identification_number) end) as customer,
      json_build_object('address', json_build_object('country', entity.country, 'line1', entity.address_line1,
        'city', entity.city, 'region', entity.state, 'postalCode', entity.zipcode)) as seller
    from integration_customers link
    join customers customer on customer.organization_id = link.organization_id and customer.id = link.customer_id
    join billing_entities entity on entity.organization_id = link.organization_id and entity.id = ${billingEntityId}
    where link.organization_id = ${organizationId} and link.customer_id = ${customerId} and link.category = 'tax'`;
  if (!row) return undefined;
  const mappings = await listMappings(scope, row.integration_id);
  return { ...row, mappings: new Map(mappings.map((mapping) => [keyOf(mapping), mapping.external_id])) };
}

/** A fee that goes into a document. */
export interface SentFee {
  id: string;
  fee_type: FeeType;
  item_code: string;
  units: Decimal;
  amount_cents: Cents;
  precise_amount_cents: Decimal;
  precise_coupons_amount_cents: Decimal;
}

const MAPPED_AS: Readonly<Record<Exclude<FeeType, 'credit'>, MappedType>> = {
  subscription: 'plan',
  charge: 'billable_metric',
  fixed_charge: 'fixed_charge',
  commitment: 'commitment',
  add_on: 'add_on',
};

/**
 * The name that an engine has for what a fee sells: its own mapping, else the default, else its code.
 * Rule: integrations.md#mappings.
 */
export function productOf(mappings: Mappings, fee: Pick<SentFee, 'fee_type' | 'item_code'>): string {
  const type = fee.fee_type === 'credit' ? undefined : MAPPED_AS[fee.fee_type];
  const own = type && mappings.get(keyOf({ resource_type: type, resource_code: fee.item_code }));
  return own ?? mappings.get(keyOf({ resource_type: 'default', resource_code: '' })) ?? fee.item_code;
}

/** The document of fees that are taxed together. Rule: tax-engines.md#what-is-sent. */
export function documentOf(
  { customer, seller, timezone, mappings }: DocumentFacts,
  head: { id: string; date: Temporal.PlainDate; currency: string },
  { fees, netTotalCents }: { fees: readonly SentFee[]; netTotalCents: Cents },
): TaxDocument {
  const byId = new Map(fees.map((fee) => [fee.id, fee]));
  const lines = linesToSend(
    fees.map((fee) => ({
      key: fee.id,
      amountCents: fee.amount_cents,
      preciseAmountCents: fee.precise_amount_cents,
      preciseCouponsAmountCents: fee.precise_coupons_amount_cents,
    })),
    netTotalCents,
  );
  return {
    id: head.id,
    date: head.date.toString(),
    timezone,
    currency: head.currency,
    customer,
    seller,
    lines: lines.map(({ key, netCents }) => {
      const fee = byId.get(key)!;
      return { id: key, productId: productOf(mappings, fee), quantity: decimalText(fee.units), netCents };
    }),
  };
}
