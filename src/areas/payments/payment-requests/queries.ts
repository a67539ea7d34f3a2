import type { Temporal } from 'temporal-polyfill';
import type { PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CustomerId,
  DunningCampaignId,
  ExternalCustomerId,
  InvoiceId,
  PaymentMethodId,
  PaymentRequestId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords } from '../../../platform/lists/count.ts';
import { type Counted, limitOf, type Page, pageOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';

export interface RequestRow {
  id: PaymentRequestId;
  customer_id: CustomerId;
  billing_entity_id: BillingEntityId;
  amount_cents: number;
  amount_currency: string;
  email: string | null;
  payment_status: PaymentStatus;
  payment_attempts: number;
  ready_for_payment_processing: boolean;
  payment_method_type: string | null;
  payment_method_id: PaymentMethodId | null;
  dunning_campaign_id: DunningCampaignId | null;
  dunning_campaign_code: string | null;
  /** Which attempt of its campaign made it, from 1; null of one made by hand, or before attempts were kept. */
  dunning_attempt: number | null;
  invoice_ids: InvoiceId[];
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  request.id, request.customer_id, request.billing_entity_id, request.amount_cents, request.amount_currency,
  request.email, request.payment_status, request.payment_attempts, request.ready_for_payment_processing,
  request.payment_method_type, request.payment_method_id, request.dunning_campaign_id,
  campaign.code as dunning_campaign_code, request.dunning_attempt, request.created_at,
  (select coalesce(array_agg(asked.invoice_id order by asked.invoice_id), '{}') from payment_request_invoices asked
   where asked.organization_id = request.organization_id and asked.payment_request_id = request.id) as invoice_ids`;

const tables = (db: Db) => db`
  payment_requests request
  left join dunning_campaigns campaign
    on campaign.organization_id = request.organization_id and campaign.id = request.dunning_campaign_id`;

/** @throws Refusal 404 payment_request */
export async function getRequest(scope: Scope, id: PaymentRequestId): Promise<RequestRow> {
  const row = await findRequest(scope, id);
  if (!row) throw refuse.notFound('payment_request');
  return row;
}

export async function findRequest(
  { db, organizationId }: Scope,
  id: PaymentRequestId,
): Promise<RequestRow | undefined> {
  const [row] = isUuid(id)
    ? await db<RequestRow[]>`
      select ${columns(db)} from ${tables(db)} where request.organization_id = ${organizationId} and request.id = ${id}`
    : [];
  return row;
}

export interface RequestFilters {
  customerId?: CustomerId | undefined;
  externalCustomerId?: ExternalCustomerId | undefined;
  paymentStatus?: string | undefined;
  currency?: string | undefined;
  billingEntityCodes?: readonly string[] | undefined;
}

/** A page of payment requests, newest first, and how many there are. Rule: payment-requests.md#payment-requests. */
export async function listRequests(
  scope: Scope,
  filters: RequestFilters,
  page: Page,
): Promise<{ rows: readonly RequestRow[]; total: Counted }> {
  const { db, organizationId } = scope;
  const { limit, offset } = limitOf(page);
  const when = (value: unknown, part: ReturnType<typeof db>) => (value === undefined ? db`` : part);
  const passing = db`request.organization_id = ${organizationId}
    ${when(filters.customerId, db`and request.customer_id = ${filters.customerId ?? null}`)}
    ${when(filters.externalCustomerId, db`and request.customer_id = ${liveCustomerId(scope, filters.externalCustomerId ?? '')}`)}
    ${when(filters.paymentStatus, db`and request.payment_status = ${filters.paymentStatus ?? null}`)}
    ${when(filters.currency, db`and request.amount_currency = ${filters.currency ?? null}`)}
    ${when(
      filters.billingEntityCodes,
      db`and request.billing_entity_id in (
      select id from billing_entities
      where organization_id = ${organizationId} and code = any (${filters.billingEntityCodes ?? []}))`,
    )}`;
  return pageOf(page, {
    rows: () => db<RequestRow[]>`
      select ${columns(db)} from ${tables(db)} where ${passing}
      order by request.created_at desc, request.id desc limit ${limit} offset ${offset}`,
    count: () => countRecords(db, db`payment_requests request where ${passing}`),
  });
}
