import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import { type CustomerId, newId, type PaymentProviderId } from '../../../platform/ids.ts';
import { can, isOverNetwork } from '../../../platform/payments/providers.ts';
import { refuse } from '../../../platform/refusal.ts';
import { oweMethodsOfMany } from '../../customers/customers/announce-link.ts';
import { findImport, importView, isOpen, METHODS_IMPORT } from '../../customers/payment-providers/methods-import.ts';
import { findProviderById, getProvider } from '../../customers/payment-providers/queries.ts';

/** Marks the next customers of an import, and looks whether all have been read. */
const IMPORT_STEP = 'import-methods-of-connection';

/** Two calls for each, once a minute: 10 calls a second. */
const CUSTOMERS_PER_MINUTE = 300;

/** After that an import ends as failed: the provider has not answered for some customer. */
const LONGEST_HOURS = 24;

/**
 * Starts the import of the methods of all customers who are linked by a connection; the one that runs already is
 * answered again.
 *
 * @throws Refusal 404 payment_provider; 405 feature_not_supported, of a connection that charges no stored methods
 * Rule: provider-connections.md#customers-at-the-provider "all of a connection".
 */
export async function startMethodsImport(ctx: Context, { code }: { code: string }) {
  const provider = await getProvider(ctx, code);
  if (!can(provider, 'off_session_charge')) throw refuse.notAllowed('feature_not_supported');
  await ctx.db`
    select from payment_providers where organization_id = ${ctx.organizationId} and id = ${provider.id}
    for no key update`;
  const known = await findImport(ctx, provider.id);
  if (known && isOpen(known)) return { payment_methods_import: importView(known, code) };
  const id = newId();
  await ctx.db`
    insert into runs (id, organization_id, kind, input, created_at)
    values (${id}, ${ctx.organizationId}, ${METHODS_IMPORT}, ${json({ payment_provider_id: provider.id })},
      ${ctx.now()})`;
  ctx.after({ step: IMPORT_STEP, payload: { run_id: id, payment_provider_id: provider.id, after: null } });
  return { payment_methods_import: importView((await findImport(ctx, provider.id))!, code) };
}

interface Position {
  run_id: string;
  payment_provider_id: PaymentProviderId;
  /** The last customer that was marked. */
  after: CustomerId | null;
}

/**
 * Step `import-methods-of-connection`: owes the methods of the next 300 customers, whose jobs read them; again every
 * minute until all are read. Whoever is owed already is not marked again. A double has no methods of its own.
 */
export async function importMethodsOfConnection(
  ctx: Context,
  { run_id: runId, payment_provider_id: providerId, after }: Position,
): Promise<void> {
  const { db, organizationId } = ctx;
  const [run] = await db<{ created_at: Temporal.Instant; status: 'running' }[]>`
    select created_at, status from runs where organization_id = ${organizationId} and id = ${runId} for update`;
  if (!run || !isOpen(run)) return;
  const provider = await findProviderById(ctx, providerId);
  if (!provider || provider.deleted_at !== null) return end(ctx, runId, 'canceled');
  const isAsked = isOverNetwork(provider.provider_type);
  const page = isAsked ? await lockLinked(ctx, providerId, after) : [];
  await oweMethodsOfMany(ctx, page);
  const last = page.at(-1) ?? after;
  const [count] = await db<{ total: number; open: number }[]>`
    select count(*) as total, count(*) filter (where ${isAsked} and (methods_owed_at is not null
      or id > coalesce(${last}::uuid, '00000000-0000-0000-0000-000000000000'))) as open
    from customers
    where organization_id = ${organizationId} and payment_provider_id = ${providerId}
      and provider_customer_id is not null and deleted_at is null`;
  const { total, open } = count!;
  await db`
    update runs set status = 'running', done = ${total - open}, total = ${total},
      started_at = coalesce(started_at, ${ctx.now()})
    where organization_id = ${organizationId} and id = ${runId}`;
  if (open === 0) return end(ctx, runId, 'succeeded');
  if (ctx.now().since(run.created_at).total('hours') > LONGEST_HOURS) return end(ctx, runId, 'failed');
  const dueAt = ctx.now().add({ minutes: 1 });
  ctx.after({ step: IMPORT_STEP, payload: { run_id: runId, payment_provider_id: providerId, after: last }, dueAt });
}

async function lockLinked(
  { db, organizationId }: Context,
  providerId: PaymentProviderId,
  after: CustomerId | null,
): Promise<CustomerId[]> {
  const rows = await db<{ id: CustomerId }[]>`
    select id from customers
    where organization_id = ${organizationId} and payment_provider_id = ${providerId}
      and provider_customer_id is not null and deleted_at is null ${after === null ? db`` : db`and id > ${after}`}
    order by id limit ${CUSTOMERS_PER_MINUTE} for no key update`;
  return rows.map(({ id }) => id);
}

const NOT_ANSWERED = {
  code: 'provider_unreachable',
  message: 'The provider has not answered for some customers within a day.',
};

const end = ({ db, organizationId, now }: Context, id: string, status: 'succeeded' | 'failed' | 'canceled') =>
  db`
  update runs set status = ${status}, finished_at = ${now()},
    error = ${status === 'failed' ? json(NOT_ANSWERED) : null}
  where organization_id = ${organizationId} and id = ${id}`.then(() => undefined);
