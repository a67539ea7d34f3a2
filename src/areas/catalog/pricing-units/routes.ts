import { crud } from '../../../platform/crud.ts';
import { viewSchema } from '../../../platform/schema/columns.ts';
import { createPricingUnit, deletePricingUnit, updatePricingUnit } from './commands.ts';
import { pricingUnits } from './queries.ts';
import { listPricingUnits, showPricingUnit } from './reads.ts';
import { PricingUnitCreate, PricingUnitsQuery, PricingUnitUpdate } from './schema.ts';

export const pricingUnitOperations = crud('pricing_unit', {
  words: { one: 'a pricing unit', listed: 'pricing units' },
  schemas: {
    create: PricingUnitCreate,
    update: PricingUnitUpdate,
    query: PricingUnitsQuery,
    view: viewSchema(pricingUnits),
  },
  run: {
    create: createPricingUnit,
    list: listPricingUnits,
    show: showPricingUnit,
    update: updatePricingUnit,
    destroy: deletePricingUnit,
  },
});
