import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import { listCatalogs } from '../../catalog/usage-shapes/queries.ts';
import { holdOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';
import { type Catalog, catalogOf } from '../../catalog/usage-shapes/storing-catalog.ts';
import { type DecideCall, type Decided, decideBudgets } from './decide-call.ts';

/** What storing and decisions look at, which nobody changes until the transaction ends. */
export async function holdCatalog(ctx: Context): Promise<Catalog> {
  await holdOrganizationEvents(ctx.db, [ctx.organizationId]);
  const [row] = await listCatalogs(ctx.db, [ctx.organizationId]);
  assert(row, 'the organization of a command is there');
  return catalogOf(row);
}

/** Decides in the transaction of a command, with a held catalog, and nudges what announces the changes. */
export async function decideInCommand(ctx: Context, call: DecideCall): Promise<Decided> {
  const decided = await decideBudgets(ctx, call);
  assert(decided, 'a catalog that is held is of the present version');
  if (decided.step !== null) ctx.after({ nudge: 'step.run', payload: { step_id: decided.step } });
  return decided;
}
