import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PaymentProviderId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { getProvider } from './queries.ts';

/** Kind of the runs that read the methods of all customers of a connection. */
export const METHODS_IMPORT = 'import_payment_methods';

export const MethodsImportEnvelope = z.object({
  payment_methods_import: z
    .object({
      svc_id: z.uuid(),
      payment_provider_code: z.string(),
      status: z.enum(['pending', 'running', 'succeeded', 'failed', 'canceled']),
      progress: z.object({ done: z.int(), total: z.int().nullable(), percent: z.int() }),
      error: z.record(z.string(), z.any()).nullable(),
      created_at: z.iso.datetime(),
      started_at: z.iso.datetime().nullable(),
      finished_at: z.iso.datetime().nullable(),
    })
    .nullable(),
});

interface ImportRow {
  id: string;
  status: 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled';
  done: number;
  total: number | null;
  error: object | null;
  created_at: Temporal.Instant;
  started_at: Temporal.Instant | null;
  finished_at: Temporal.Instant | null;
}

/** The newest import of a connection. */
export async function findImport(
  { db, organizationId }: Scope,
  providerId: PaymentProviderId,
): Promise<ImportRow | undefined> {
  const [row] = await db<ImportRow[]>`
    select id, status, done, total, error, created_at, started_at, finished_at from runs
    where organization_id = ${organizationId} and kind = ${METHODS_IMPORT}
      and input ->> 'payment_provider_id' = ${providerId}
    order by created_at desc, id desc limit 1`;
  return row;
}

export const isOpen = ({ status }: Pick<ImportRow, 'status'>): boolean => status === 'pending' || status === 'running';

/** Rule: provider-connections.md#customers-at-the-provider "all of a connection". */
export const importView = (row: ImportRow, code: string) => ({
  svc_id: row.id,
  payment_provider_code: code,
  status: row.status,
  progress: { done: row.done, total: row.total, percent: row.total ? Math.floor((100 * row.done) / row.total) : 0 },
  error: row.error,
  created_at: seconds(row.created_at),
  started_at: secondsOrNull(row.started_at),
  finished_at: secondsOrNull(row.finished_at),
});

/** The newest import of a connection; null before the first. @throws Refusal 404 payment_provider */
export async function showMethodsImport(ctx: Context, { code }: { code: string }) {
  const row = await findImport(ctx, (await getProvider(ctx, code)).id);
  return { payment_methods_import: row === undefined ? null : importView(row, code) };
}

/**
 * Ends the import of a connection that waits or runs: no further customers are marked. Those who are marked already are
 * read all the same.
 *
 * @throws Refusal 404 payment_provider; 405 invalid_status, when none waits or runs
 * Rule: provider-connections.md#customers-at-the-provider "all of a connection".
 */
export async function cancelMethodsImport(ctx: Context, { code }: { code: string }) {
  const { db, organizationId } = ctx;
  const provider = await getProvider(ctx, code);
  const [canceled] = await db`
    update runs set status = 'canceled', finished_at = ${ctx.now()}
    where organization_id = ${organizationId} and kind = ${METHODS_IMPORT} and status in ('pending', 'running')
      and input ->> 'payment_provider_id' = ${provider.id}
    returning id`;
  if (!canceled) throw refuse.notAllowed('invalid_status');
  return { payment_methods_import: importView((await findImport(ctx, provider.id))!, code) };
}
