import type { Context } from '../../../platform/context.ts';
import type { TaxId } from '../../../platform/ids.ts';
import { attachToBillingEntity, detachFromBillingEntity } from '../../catalog/taxes/writes.ts';
import { getDefaultBillingEntity } from './queries.ts';

/**
 * Gives a tax that holds for the whole organization to its default billing entity, or takes it away.
 * Rule: taxes.md#resource.
 */
export async function applyTaxOfOrganization(
  ctx: Context,
  { tax_id, is_applied }: { tax_id: TaxId; is_applied: boolean },
): Promise<void> {
  const entity = await getDefaultBillingEntity(ctx);
  const move = is_applied ? attachToBillingEntity : detachFromBillingEntity;
  await move(ctx, tax_id, entity.id);
}
