import { realNow } from '../../../platform/clock/real-clock.ts';
import type { WriteScope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { PaymentProviderId } from '../../../platform/ids.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import type { ProviderRow } from './queries.ts';
import type { ProviderCreate, ProviderUpdate } from './schema.ts';

/** Stored fields of a connection that clients do not send in this form. */
interface Kept {
  secrets: object;
  secrets_last4: object;
  settings: object;
  isLive: boolean | null;
  status: string;
  /** Whether the provider has just answered a check. */
  isChecked: boolean;
  owesInbound: boolean;
}

export const insertProvider = (
  { db, organizationId, now }: WriteScope,
  given: ProviderCreate,
  kept: Kept & { id: string; emulates: ContractProvider | null },
) => db`
  insert into payment_providers (id, organization_id, provider_type, emulates, code, name, success_redirect_url,
    secrets, secrets_last4, settings, live, status, checked_at, inbound_owed_at, created_at, updated_at)
  values (${kept.id}, ${organizationId}, ${given.type}, ${kept.emulates}, ${given.code}, ${given.name},
    ${given.success_redirect_url ?? null}, ${json(kept.secrets)}, ${json(kept.secrets_last4)}, ${json(kept.settings)},
    ${kept.isLive}, ${kept.status}, ${kept.isChecked ? realNow() : null}, ${kept.owesInbound ? realNow() : null},
    ${now()}, ${now()})`;

/** Changes a connection: what is absent stays, secrets and settings by their names. */
export const updateProviderRow = (
  { db, organizationId, now }: WriteScope,
  stored: ProviderRow,
  { given, kept }: { given: ProviderUpdate; kept: Kept },
) => db`
  update payment_providers set code = ${given.code ?? stored.code}, name = ${given.name ?? stored.name},
    success_redirect_url = ${given.success_redirect_url === undefined ? stored.success_redirect_url : given.success_redirect_url},
    secrets = secrets || ${json(kept.secrets)}::jsonb,
    secrets_last4 = secrets_last4 || ${json(kept.secrets_last4)}::jsonb,
    settings = settings || ${json(kept.settings)}::jsonb, live = ${kept.isLive},
    status = ${kept.status}, last_error = case when ${kept.isChecked}::boolean then null else last_error end,
    checked_at = case when ${kept.isChecked}::boolean then ${realNow()} else checked_at end,
    refused_calls = case when ${kept.isChecked}::boolean then 0 else refused_calls end,
    inbound_owed_at = case when ${kept.owesInbound}::boolean then ${realNow()} else inbound_owed_at end,
    updated_at = ${now()}
  where organization_id = ${organizationId} and id = ${stored.id}`;

/** Gives the customers of a connection its new code. */
export const renameOfCustomers = ({ db, organizationId, now }: WriteScope, id: PaymentProviderId, code: string) => db`
  update customers set payment_provider_code = ${code}, updated_at = ${now()}
  where organization_id = ${organizationId} and payment_provider_id = ${id}`;

/** Marks a connection deleted and unlinks its customers. */
export async function deleteProviderRow({ db, organizationId, now }: WriteScope, id: PaymentProviderId): Promise<void> {
  await db`
    update payment_providers set deleted_at = ${now()}, updated_at = ${now()}
    where organization_id = ${organizationId} and id = ${id}`;
  await db`
    update customers set payment_provider = null, payment_provider_code = null, provider_customer_id = null,
      payment_provider_id = null, updated_at = ${now()}
    where organization_id = ${organizationId} and payment_provider_id = ${id}`;
}
