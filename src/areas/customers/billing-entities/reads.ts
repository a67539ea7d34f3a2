import type { Context } from '../../../platform/context.ts';
import { listTaxesOfBillingEntities } from '../../catalog/taxes/queries.ts';
import { listSelectedSections } from '../invoice-custom-sections/queries.ts';
import { getBillingEntity, listBillingEntities } from './queries.ts';
import { billingEntityDetails, billingEntityView } from './view.ts';

/** All live entities, without pages. */
export async function listAllBillingEntities(ctx: Context) {
  const entities = await listBillingEntities(ctx);
  return { billing_entities: entities.map(billingEntityView) };
}

/** @throws Refusal 404 billing_entity */
export async function showBillingEntity(ctx: Context, { code }: { code: string }) {
  const entity = await getBillingEntity(ctx, code);
  const [taxes, sections] = await Promise.all([
    listTaxesOfBillingEntities(ctx, [entity.id]),
    listSelectedSections(ctx, { type: 'billing_entity', id: entity.id }),
  ]);
  return { billing_entity: billingEntityDetails(entity, taxes, sections) };
}
