import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId, WebhookEndpointId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { SignatureAlgorithm } from './schema.ts';

export interface WebhookEndpointRow {
  id: WebhookEndpointId;
  organization_id: OrganizationId;
  webhook_url: string;
  name: string | null;
  signature_algo: SignatureAlgorithm;
  /** Null: all types of the contract. */
  event_types: string[] | null;
  status: 'enabled' | 'disabled';
  disabled_at: Temporal.Instant | null;
  disabled_reason: string | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, organization_id, webhook_url, name, signature_algo, event_types, status, disabled_at, disabled_reason,
    created_at`;

/** @throws Refusal 404 webhook_endpoint */
export async function getWebhookEndpoint(
  { db, organizationId }: Scope,
  id: WebhookEndpointId,
): Promise<WebhookEndpointRow> {
  const [row] = isUuid(id)
    ? await db<WebhookEndpointRow[]>`
        select ${columns(db)} from webhook_endpoints where organization_id = ${organizationId} and id = ${id}`
    : [];
  if (!row) throw refuse.notFound('webhook_endpoint');
  return row;
}

/** As getWebhookEndpoint; the row stays locked until the transaction ends. */
export async function lockWebhookEndpoint(
  { db, organizationId }: Scope,
  id: WebhookEndpointId,
): Promise<WebhookEndpointRow> {
  const [row] = isUuid(id)
    ? await db<WebhookEndpointRow[]>`
        select ${columns(db)} from webhook_endpoints where organization_id = ${organizationId} and id = ${id}
        for update`
    : [];
  if (!row) throw refuse.notFound('webhook_endpoint');
  return row;
}

/** By URL (lists.md#filters-and-order). */
export async function listWebhookEndpoints(
  scope: Scope,
  page: Page,
): Promise<{ rows: WebhookEndpointRow[]; totalCount: number }> {
  const { db, organizationId } = scope;
  const { limit, offset } = limitOf(page);
  const [rows, totalCount] = await Promise.all([
    db<WebhookEndpointRow[]>`
      select ${columns(db)} from webhook_endpoints where organization_id = ${organizationId}
      order by webhook_url, created_at desc, id desc
      limit ${limit} offset ${offset}`,
    countWebhookEndpoints(scope),
  ]);
  return { rows, totalCount };
}

export async function countWebhookEndpoints({ db, organizationId }: Scope): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from webhook_endpoints where organization_id = ${organizationId}`;
  return row!.count;
}
