import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment, Sql } from '../../../platform/db/connect.ts';
import { takeInTurn } from '../../../platform/db/rows-in-turn.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PaymentProviderId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ProviderType } from './schema.ts';

/** A connection to a payment provider. */
export interface ProviderRow {
  id: PaymentProviderId;
  provider_type: ProviderType;
  emulates: ContractProvider | null;
  code: string;
  name: string;
  success_redirect_url: string | null;
  /** Sealed texts by name. */
  secrets: Record<string, string>;
  secrets_last4: Record<string, string>;
  settings: Record<string, unknown>;
  /** Whether it moves real money; null while only the provider knows. */
  live: boolean | null;
  status: 'connected' | 'unverified' | 'failing';
  last_error: string | null;
  inbound_endpoint_id: string | null;
  /** Since when our address has to be registered at the provider. */
  inbound_owed_at: Temporal.Instant | null;
  /** Calls in a row that were refused for their credentials. */
  refused_calls: number;
  deleted_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  /** Of a connection whose event is handled: others whose secret signs it too. */
  also_signed_by?: readonly PaymentProviderId[];
}

/** A connection with what only its reader is told: its customers are counted one by one. */
export interface ShownProviderRow extends ProviderRow {
  customers_count: number;
  drifts_open: number;
  /** When a run has last compared all that it holds with ours. */
  reconciled_at: Temporal.Instant | null;
}

const columns = (db: Db) => db`
  provider.id, provider.provider_type, provider.emulates, provider.code, provider.name, provider.success_redirect_url,
  provider.secrets, provider.secrets_last4, provider.settings, provider.live, provider.status, provider.last_error,
  provider.inbound_endpoint_id, provider.inbound_owed_at, provider.refused_calls, provider.deleted_at,
  provider.created_at`;

const shownColumns = (db: Db) => db`
  ${columns(db)}, provider.reconciled_at,
  (select count(*) from customers customer where customer.organization_id = provider.organization_id
    and customer.payment_provider_id = provider.id and customer.deleted_at is null) as customers_count,
  (select count(*) from provider_drifts drift where drift.organization_id = provider.organization_id
    and drift.connection_id = provider.id and drift.status = 'open') as drifts_open`;

/** The name under which a connection appears in the contract's objects. */
export const contractName = (provider: Pick<ProviderRow, 'provider_type' | 'emulates'>): ContractProvider =>
  provider.emulates ?? (provider.provider_type as ContractProvider);

/** Whether a code is taken by a live connection. */
export async function isProviderCodeTaken({ db, organizationId }: Scope, code: string): Promise<boolean> {
  const rows = await db`
    select from payment_providers
    where organization_id = ${organizationId} and code = ${code} and deleted_at is null`;
  return rows.length > 0;
}

/** @throws Refusal 404 payment_provider */
export async function getProvider({ db, organizationId }: Scope, code: string): Promise<ShownProviderRow> {
  const [row] = await db<ShownProviderRow[]>`
    select ${shownColumns(db)} from payment_providers provider
    where provider.organization_id = ${organizationId} and provider.code = ${code} and provider.deleted_at is null`;
  if (!row) throw refuse.notFound('payment_provider');
  return row;
}

/** A connection that was made or changed by the caller, as it is shown. */
export async function readShownProvider(
  { db, organizationId }: Scope,
  id: PaymentProviderId,
): Promise<ShownProviderRow> {
  const [row] = await db<ShownProviderRow[]>`
    select ${shownColumns(db)} from payment_providers provider
    where provider.organization_id = ${organizationId} and provider.id = ${id}`;
  return row!;
}

/** A connection by its id, deleted ones too: payments under way still need them. */
export async function findProviderById(
  { db, organizationId }: Scope,
  id: PaymentProviderId,
): Promise<ProviderRow | undefined> {
  const [row] = await db<ProviderRow[]>`
    select ${columns(db)} from payment_providers provider
    where provider.organization_id = ${organizationId} and provider.id = ${id}`;
  return row;
}

/**
 * The connections that may reach the same account as one, as a list of their ids: itself, and those of the same type
 * and with the same address, where it is a setting, or with the secret that signed an event; deleted ones too. An
 * object of the account has one id in all of them.
 */
export const idsOfSameAccount = (
  { db, organizationId }: Scope,
  {
    provider_type,
    settings,
    also_signed_by: others = [],
  }: Pick<ProviderRow, 'provider_type' | 'settings' | 'also_signed_by'>,
): Fragment => db`(
  select same.id from payment_providers same
  where same.organization_id = ${organizationId} and same.provider_type = ${provider_type}
    and (coalesce(same.settings ->> 'endpoint_url', '') = ${String(settings.endpoint_url ?? '')}
      or same.id = any (${[...others]}::uuid[])))`;

/** Live connections that carry a name of the contract, or any if none is named; of one code if that is given. */
export const listProvidersNamed = ({ db, organizationId }: Scope, name: string | null, code: string | null) => db<
  ProviderRow[]
>`
  select ${columns(db)} from payment_providers provider
  where provider.organization_id = ${organizationId} and provider.deleted_at is null
    ${name === null ? db`` : db`and coalesce(provider.emulates, provider.provider_type) = ${name}`}
    ${code === null ? db`` : db`and provider.code = ${code}`}
  order by provider.created_at, provider.id
  limit 2`;

/**
 * Days for which a deleted connection keeps its secrets, so that payments in progress can end.
 * Rules: provider-connections.md#secrets, provider-connections.md#deleted-connections.
 */
const KEPT_DAYS = 30;
/**
 * How many deleted connections of one code have their events still accepted; a code may have been used several times.
 */
const MOST_DELETED = 5;

/** Whether a connection was deleted so recently that its secrets are kept, by its organization's time. */
const isKept = (db: Db, row: 'provider' | 'record', now: Temporal.Instant): Fragment => db`
  ${db(row)}.deleted_at > coalesce((
    select clock.frozen_time from test_clocks clock where clock.organization_id = ${db(row)}.organization_id), ${now})
    - make_interval(days => ${KEPT_DAYS})`;

/**
 * Connections of a type that may send us events: two live ones at most, then those deleted a short while ago, the last
 * one first; of one code if that is given.
 */
export const listProvidersOfType = (
  { db, organizationId }: Scope,
  type: string,
  { code, now }: { code: string | null; now: Temporal.Instant },
) => db<(ProviderRow & { sandbox: boolean })[]>`
  select ${columns(db)}, organization.sandbox from payment_providers provider
  join organizations organization on organization.id = provider.organization_id
  where provider.organization_id = ${organizationId} and provider.provider_type = ${type}
    and (provider.deleted_at is null or ${isKept(db, 'provider', now)})
    ${code === null ? db`` : db`and provider.code = ${code}`}
  order by provider.deleted_at desc nulls first, provider.id
  limit ${MOST_DELETED + 1}`;

/** How many deleted connections a run cleans, each with a call to its provider, and how many of one organization. */
const MOST_RETIRED = 100;
const MOST_RETIRED_OF_ORGANIZATION = 20;

/** Deleted connections whose secrets are due to be removed, of all organizations in fair turns. */
export const takeRetiredProviders = (sql: Sql, now: Temporal.Instant) =>
  takeInTurn<PaymentProviderId>(sql, now, {
    table: 'payment_providers',
    most: MOST_RETIRED,
    mostOfOrganization: MOST_RETIRED_OF_ORGANIZATION,
    due: sql`record.deleted_at is not null and record.secrets <> '{}' and not ${isKept(sql, 'record', now)}`,
  });

/** What is registered at providers for the events of other connections, deleted ones too. */
export async function listOtherEndpoints({ db, organizationId }: Scope, id: PaymentProviderId): Promise<string[]> {
  const rows = await db<{ inbound_endpoint_id: string }[]>`
    select inbound_endpoint_id from payment_providers
    where organization_id = ${organizationId} and id <> ${id} and inbound_endpoint_id is not null`;
  return rows.map(({ inbound_endpoint_id }) => inbound_endpoint_id);
}

/** A page of connections, oldest first, and how many there are. */
export async function listProviders(
  { db, organizationId }: Scope,
  types: readonly string[] | undefined,
  page: Page,
): Promise<{ rows: ShownProviderRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const passing = db`provider.organization_id = ${organizationId} and provider.deleted_at is null
    ${types === undefined ? db`` : db`and provider.provider_type = any (${types})`}`;
  const [rows, [count]] = await Promise.all([
    db<ShownProviderRow[]>`
      select ${shownColumns(db)} from payment_providers provider where ${passing}
      order by provider.created_at, provider.id limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from payment_providers provider where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}
