import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { InvoiceRunKind } from '../../invoices/invoices/commands/run-many.ts';
import type { InvoiceFilters } from '../../invoices/invoices/queries.ts';

export interface InvoiceRun {
  id: string;
  kind: InvoiceRunKind;
  input: InvoiceFilters;
  done: number;
  total: number | null;
}

/** A run that is not over, locked until the transaction ends. */
export async function lockRun({ db, organizationId }: Scope, id: string): Promise<InvoiceRun | undefined> {
  const [row] = await db<InvoiceRun[]>`
    select id, kind, input, done, total from runs
    where organization_id = ${organizationId} and id = ${id} and finished_at is null
    for update`;
  return row;
}

export interface RunError {
  code: string;
  message: string;
  svc_resource_id: string;
}

/** Stores the progress of a run; with an error the run has failed. */
export const moveRun = (
  { db, organizationId }: Scope,
  id: string,
  {
    progress,
    now,
  }: { progress: { done: number; total: number; isOver: boolean; error: RunError | null }; now: Temporal.Instant },
) => db`
  update runs
  set done = ${progress.done}, total = ${progress.total}, error = ${json(progress.error)},
    status = ${progress.error ? 'failed' : progress.isOver ? 'succeeded' : 'running'},
    started_at = coalesce(started_at, ${now}), finished_at = ${progress.isOver || progress.error ? now : null}
  where organization_id = ${organizationId} and id = ${id}`;
