import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, PaymentMethodId, PaymentProviderId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import type { SandboxBehaviour } from '../../../platform/payments/sandbox/behaviour.ts';
import { refuse } from '../../../platform/refusal.ts';

/** A way to pay that a customer has stored at a provider. */
export interface MethodRow {
  id: PaymentMethodId;
  customer_id: CustomerId;
  payment_provider_id: PaymentProviderId;
  provider_name: string;
  provider_code: string;
  provider_type: ContractProvider;
  provider_customer_id: string;
  provider_method_id: string;
  method_type: string;
  /** Last digits; for test methods their behaviour. */
  details: { last4?: string; behaviour?: SandboxBehaviour };
  is_default: boolean;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  method.id, method.customer_id, method.payment_provider_id, provider.name as provider_name,
    provider.code as provider_code,
  coalesce(provider.emulates, provider.provider_type) as provider_type, method.provider_customer_id,
  method.provider_method_id, method.method_type, method.details, method.is_default, method.created_at`;

const tables = (db: Db) => db`
  payment_methods method
  join payment_providers provider
    on provider.organization_id = method.organization_id and provider.id = method.payment_provider_id`;

/** @throws Refusal 404 payment_method */
export async function getMethod(scope: Scope, customerId: CustomerId, id: PaymentMethodId): Promise<MethodRow> {
  const row = isUuid(id) ? await findMethod(scope, customerId, id) : undefined;
  if (!row) throw refuse.notFound('payment_method');
  return row;
}

/** A live method of a customer: the one of an id, else the default one. */
export async function findMethod(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  id: PaymentMethodId | null,
): Promise<MethodRow | undefined> {
  const [row] = await db<MethodRow[]>`
    select ${columns(db)} from ${tables(db)}
    where method.organization_id = ${organizationId} and method.customer_id = ${customerId}
      and method.deleted_at is null and ${id === null ? db`method.is_default` : db`method.id = ${id}`}`;
  return row;
}

/** A method by its id, discarded or not. */
export async function readMethod({ db, organizationId }: Scope, id: PaymentMethodId): Promise<MethodRow> {
  const [row] = await db<MethodRow[]>`
    select ${columns(db)} from ${tables(db)} where method.organization_id = ${organizationId} and method.id = ${id}`;
  return row!;
}

/** A page of a customer's methods, newest first, and how many there are. */
export async function listMethods(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  page: Page,
): Promise<{ rows: MethodRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const passing = db`method.organization_id = ${organizationId} and method.customer_id = ${customerId}
    and method.deleted_at is null`;
  const [rows, [count]] = await Promise.all([
    db<MethodRow[]>`
      select ${columns(db)} from ${tables(db)} where ${passing}
      order by method.created_at desc, method.id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from payment_methods method where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}
