import type { Operation } from '../../../platform/operation.ts';
import { createPricingUnit, deletePricingUnit, updatePricingUnit } from './commands.ts';
import { listPricingUnitsPage, showPricingUnit } from './reads.ts';
import {
  PricingUnitCreate,
  PricingUnitEnvelope,
  PricingUnitList,
  PricingUnitsQuery,
  PricingUnitUpdate,
} from './schema.ts';

const common = { permission: 'pricing_unit', tag: 'pricing_units', answer: PricingUnitEnvelope } as const;

const update: Operation = {
  ...common,
  name: 'updatePricingUnit',
  method: 'put',
  path: '/pricing_units/:code',
  summary: 'Update a pricing unit',
  root: 'pricing_unit',
  body: PricingUnitUpdate,
  kind: 'command',
  run: updatePricingUnit,
};

export const pricingUnitOperations: Operation[] = [
  {
    ...common,
    name: 'createPricingUnit',
    method: 'post',
    path: '/pricing_units',
    summary: 'Create a pricing unit',
    root: 'pricing_unit',
    body: PricingUnitCreate,
    kind: 'command',
    run: createPricingUnit,
  },
  {
    ...common,
    name: 'findAllPricingUnits',
    method: 'get',
    path: '/pricing_units',
    summary: 'List pricing units',
    query: PricingUnitsQuery,
    answer: PricingUnitList,
    kind: 'read',
    run: listPricingUnitsPage,
  },
  {
    ...common,
    name: 'findPricingUnit',
    method: 'get',
    path: '/pricing_units/:code',
    summary: 'Retrieve a pricing unit',
    kind: 'read',
    run: showPricingUnit,
  },
  update,
  { ...update, name: 'patchPricingUnit', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyPricingUnit',
    method: 'delete',
    path: '/pricing_units/:code',
    summary: 'Delete a pricing unit',
    kind: 'command',
    run: deletePricingUnit,
  },
];
