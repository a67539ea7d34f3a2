import type { Temporal } from 'temporal-polyfill';
import { utcDate } from '../../../engine/calendar/instants.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { CIRCUIT_OPENS_AT } from '../../messaging/deliver-webhooks/circuit.ts';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;

/** Where and when the records of a kind are looked for. */
export interface Looked {
  db: Db;
  organizationId: OrganizationId;
  /** Present of the organization. */
  now: Temporal.Instant;
  /** Keys end in real time. */
  realNow: Temporal.Instant;
}

/** Something that a person should look at: its records, and the list that shows them. */
export interface AttentionKind {
  kind: string;
  severity: (typeof SEVERITIES)[number];
  /** The permission without whose reading the kind is absent. */
  permission: string;
  path: string;
  query: string;
  /** What stands after `from`: rows with `since`, and `count` where a row stands for several records. */
  rows: (looked: Looked) => Fragment;
}

/** For how many days something that failed for good is shown: nobody can make it succeed any more. */
const SHOWN_DAYS = 7;
const KEY_ENDS_WITHIN_DAYS = 14;
const WALLET_ENDS_WITHIN_DAYS = 7;

const HOURS_A_DAY = 24;
const daysBefore = (now: Temporal.Instant, days: number) => now.subtract({ hours: days * HOURS_A_DAY });

const failedInvoices = ({ db, organizationId }: Looked, isOfGeneration: boolean): Fragment => db`
  (select invoice.updated_at as since from invoices invoice
    where invoice.organization_id = ${organizationId} and invoice.status = 'failed'
      and ${isOfGeneration} = exists (
        select from invoice_error_details error
        where error.organization_id = invoice.organization_id and error.invoice_id = invoice.id
          and error.error_code = 'invoice_generation_error'))`;

const mailsOf = ({ db, organizationId, now }: Looked, status: 'failed' | 'unsent'): Fragment => db`
  (select created_at as since from mails
    where organization_id = ${organizationId} and status = ${status} and status in ('failed', 'unsent')
      and created_at > ${daysBefore(now, SHOWN_DAYS)})`;

/** In the order in which they are shown: by severity. Rule: console-reads.md#attention. */
export const ATTENTION_KINDS: readonly AttentionKind[] = [
  {
    kind: 'audit_findings',
    severity: 'critical',
    permission: 'audit',
    path: '/audits/findings',
    query: 'statuses[]=open',
    rows: ({ db, organizationId }) => db`
      (select first_seen_at as since from audit_findings
        where organization_id = ${organizationId} and status = 'open' and status <> 'resolved')`,
  },
  {
    kind: 'payment_provider_failing',
    severity: 'critical',
    permission: 'payment_provider',
    path: '/payment_providers',
    query: '',
    rows: ({ db, organizationId }) => db`
      (select coalesce(checked_at, updated_at) as since from payment_providers
        where organization_id = ${organizationId} and status = 'failing' and deleted_at is null)`,
  },
  {
    kind: 'invoice_generation_errors',
    severity: 'critical',
    permission: 'invoice',
    path: '/invoices',
    query: 'status[]=failed',
    rows: (looked) => failedInvoices(looked, true),
  },
  {
    kind: 'test_clock_failed',
    severity: 'critical',
    permission: 'test_clock',
    path: '/test_clock',
    query: '',
    rows: ({ db, organizationId }) => db`
      (select frozen_time as since from test_clocks where organization_id = ${organizationId} and status = 'failed')`,
  },
  {
    kind: 'invoices_failed',
    severity: 'warning',
    permission: 'invoice',
    path: '/invoices',
    query: 'status[]=failed',
    rows: (looked) => failedInvoices(looked, false),
  },
  {
    kind: 'payments_failed',
    severity: 'warning',
    permission: 'payment',
    path: '/payments',
    query: 'payment_statuses[]=failed',
    rows: ({ db, organizationId, now }) => db`
      (select payment.created_at as since from payments payment
        where payment.organization_id = ${organizationId} and payment.payment_status = 'failed'
          and payment.created_at > ${daysBefore(now, SHOWN_DAYS)}
          and case payment.payable_type
            when 'Invoice' then exists (
              select from invoices invoice where invoice.organization_id = payment.organization_id
                and invoice.id = payment.payable_id and invoice.status = 'finalized'
                and invoice.payment_status <> 'succeeded')
            else exists (
              select from payment_requests request where request.organization_id = payment.organization_id
                and request.id = payment.payable_id and request.payment_status <> 'succeeded') end)`,
  },
  {
    kind: 'webhook_endpoints_failing',
    severity: 'warning',
    permission: 'webhook_endpoint',
    path: '/webhook_endpoints',
    query: '',
    rows: ({ db, organizationId }) => db`
      (select coalesce(disabled_at, failures_since, updated_at) as since from webhook_endpoints
        where organization_id = ${organizationId}
          and (status = 'disabled' or consecutive_failures >= ${CIRCUIT_OPENS_AT}))`,
  },
  {
    kind: 'unmatched_events',
    severity: 'warning',
    permission: 'event',
    path: '/events/unmatched',
    query: '',
    rows: ({ db, organizationId }) => db`
      (select first_seen_at as since, count from unmatched_totals
        where organization_id = ${organizationId} and count > 0)`,
  },
  {
    kind: 'mails_failed',
    severity: 'warning',
    permission: 'organization',
    path: '/mails',
    query: '',
    rows: (looked) => mailsOf(looked, 'failed'),
  },
  {
    kind: 'mails_unsent',
    severity: 'warning',
    permission: 'organization',
    path: '/mails',
    query: '',
    rows: (looked) => mailsOf(looked, 'unsent'),
  },
  {
    kind: 'top_ups_failed',
    severity: 'warning',
    permission: 'wallet',
    path: '/wallets',
    query: 'statuses[]=active',
    rows: ({ db, organizationId, now }) => db`
      (select failed_at as since from wallet_transactions
        where organization_id = ${organizationId} and status = 'failed'
          and failed_at > ${daysBefore(now, SHOWN_DAYS)})`,
  },
  {
    kind: 'drifts_open',
    severity: 'warning',
    permission: 'reconciliation',
    path: '/provider_drifts',
    query: 'statuses[]=open',
    rows: ({ db, organizationId }) => db`
      (select first_seen_at as since from provider_drifts
        where organization_id = ${organizationId} and status = 'open')`,
  },
  {
    kind: 'e_documents_failed',
    severity: 'warning',
    permission: 'e_document',
    path: '/e_documents',
    query: 'statuses[]=failed',
    rows: ({ db, organizationId }) => db`
      (select updated_at as since from e_documents where organization_id = ${organizationId} and status = 'failed')`,
  },
  {
    kind: 'invoices_overdue',
    severity: 'warning',
    permission: 'invoice',
    path: '/invoices',
    query: 'payment_overdue=true',
    rows: ({ db, organizationId }) => db`
      (select payment_due_date::timestamp at time zone 'UTC' as since from invoices
        where organization_id = ${organizationId} and payment_overdue and status = 'finalized')`,
  },
  {
    kind: 'drafts_to_finalize',
    severity: 'info',
    permission: 'invoice',
    path: '/invoices',
    query: 'status[]=draft',
    rows: ({ db, organizationId, now }) => db`
      (select created_at as since from invoices
        where organization_id = ${organizationId} and status = 'draft'
          and expected_finalization_date <= ${utcDate(now)})`,
  },
  {
    kind: 'api_keys_expiring',
    severity: 'info',
    permission: 'api_key',
    path: '/api_keys',
    query: '',
    rows: ({ db, organizationId, realNow }) => db`
      (select created_at as since from api_keys
        where organization_id = ${organizationId} and expires_at > ${realNow}
          and expires_at <= ${daysBefore(realNow, -KEY_ENDS_WITHIN_DAYS)})`,
  },
  {
    kind: 'wallets_ending',
    severity: 'info',
    permission: 'wallet',
    path: '/wallets',
    query: `statuses[]=active&days_left_to=${WALLET_ENDS_WITHIN_DAYS}`,
    rows: ({ db, organizationId, now }) => db`
      (select coalesce(last_consumed_credit_at, updated_at) as since from wallets
        where organization_id = ${organizationId} and status = 'active'
          and exhausted_on between ${utcDate(now).subtract({ days: 1 })}
            and ${utcDate(now).add({ days: WALLET_ENDS_WITHIN_DAYS })})`,
  },
  {
    kind: 'quotes_waiting',
    severity: 'info',
    permission: 'order_form',
    path: '/order_forms',
    query: 'status[]=generated',
    rows: ({ db, organizationId }) => db`
      (select created_at as since from order_forms where organization_id = ${organizationId} and status = 'generated')`,
  },
  {
    kind: 'billing_entity_incomplete',
    severity: 'info',
    permission: 'billing_entity',
    path: '/billing_entities',
    query: '',
    rows: ({ db, organizationId }) => db`
      (select created_at as since from billing_entities
        where organization_id = ${organizationId} and deleted_at is null and archived_at is null
          and (address_line1 is null or city is null or country is null or tax_identification_number is null
            or logo_url is null))`,
  },
];
