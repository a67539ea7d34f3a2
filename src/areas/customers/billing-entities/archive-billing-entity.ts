import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { secondsOrNull } from '../../../platform/schema/view.ts';
import { detailsOf, recordBillingEntity } from './announce.ts';
import { type BillingEntityRow, getBillingEntity, lockBillingEntity } from './queries.ts';
import { billingEntityView } from './view.ts';
import { setArchivedAt } from './writes.ts';

/**
 * Archives a billing entity: its customers keep it, others cannot choose it. Archived twice, it stays as it is.
 *
 * @throws Refusal 404 billing_entity; 405 not_deletable, of the default one
 * Rules: other-routes.md#records, billing-entities.md.
 */
export const archiveBillingEntity = (ctx: Context, { code }: { code: string }) => setArchived(ctx, code, true);

/** Makes an archived billing entity available again. @throws Refusal 404 billing_entity */
export const restoreBillingEntity = (ctx: Context, { code }: { code: string }) => setArchived(ctx, code, false);

async function setArchived(ctx: Context, code: string, isArchived: boolean) {
  const entity = await lockBillingEntity(ctx, code);
  if (isArchived && entity.is_default) throw refuse.notAllowed('not_deletable');
  if (isArchived === (entity.archived_at !== null)) return { billing_entity: billingEntityView(entity) };
  await setArchivedAt(ctx, entity.id, { archivedAt: isArchived ? ctx.now() : null, now: ctx.now() });
  const changed = await getBillingEntity(ctx, code);
  const details = await detailsOf(ctx, changed);
  const logged = (row: BillingEntityRow) => ({ ...details, archived_at: secondsOrNull(row.archived_at) });
  recordBillingEntity(ctx, 'updated', { entity: changed, object: logged(changed), before: logged(entity) });
  return { billing_entity: billingEntityView(changed) };
}
