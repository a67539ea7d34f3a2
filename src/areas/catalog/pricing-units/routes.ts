import { crud } from '../../../platform/crud.ts';
import { createPricingUnit, deletePricingUnit, updatePricingUnit } from './commands.ts';
import { listPricingUnits, showPricingUnit } from './reads.ts';
import { PricingUnitCreate, PricingUnitsQuery, PricingUnitUpdate, PricingUnitView } from './schema.ts';

export const pricingUnitOperations = crud('pricing_unit', {
  words: { one: 'a pricing unit', listed: 'pricing units' },
  schemas: { create: PricingUnitCreate, update: PricingUnitUpdate, view: PricingUnitView, query: PricingUnitsQuery },
  run: {
    create: createPricingUnit,
    list: listPricingUnits,
    show: showPricingUnit,
    update: updatePricingUnit,
    destroy: deletePricingUnit,
  },
});
