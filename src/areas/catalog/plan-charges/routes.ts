import type { Operation } from '../../../platform/operation.ts';
import {
  CascadeBody,
  ChargeCreate,
  ChargeEnvelope,
  ChargeFilterCreate,
  ChargeFilterEnvelope,
  ChargeFilterList,
  ChargeFilterUpdate,
  ChargeList,
  ChargeUpdate,
  PageQuery,
} from '../charges/schema.ts';
import { createPlanCharge, deletePlanCharge, updatePlanCharge } from './commands.ts';
import { createPlanChargeFilter, deletePlanChargeFilter, updatePlanChargeFilter } from './filter-commands.ts';
import { listPlanChargeFilters, listPlanCharges, showPlanCharge, showPlanChargeFilter } from './reads.ts';

const CHARGES = '/plans/:code/charges';
const CHARGE = `${CHARGES}/:charge_code`;
const FILTERS = `${CHARGE}/filters`;
const FILTER = `${FILTERS}/:filter_id`;

const plan = { permission: 'plan', tag: 'plans' } as const;
const charge = { ...plan, kind: 'command', root: 'charge', answer: ChargeEnvelope } as const;
const filter = { ...plan, kind: 'command', root: 'filter', answer: ChargeFilterEnvelope } as const;
const deletion = { method: 'delete', body: CascadeBody, bodyOptional: true } as const;

const updateCharge: Operation = {
  ...charge,
  name: 'updatePlanCharge',
  method: 'put',
  path: CHARGE,
  summary: 'Update a charge of a plan',
  body: ChargeUpdate,
  run: updatePlanCharge,
};
const updateFilter: Operation = {
  ...filter,
  name: 'updatePlanChargeFilter',
  method: 'put',
  path: FILTER,
  summary: 'Update a filter of a charge',
  body: ChargeFilterUpdate,
  run: updatePlanChargeFilter,
};

export const chargeOperations: Operation[] = [
  {
    ...plan,
    kind: 'read',
    name: 'findAllPlanCharges',
    method: 'get',
    path: CHARGES,
    summary: 'List charges of a plan',
    query: PageQuery,
    answer: ChargeList,
    run: listPlanCharges,
  },
  {
    ...charge,
    name: 'createPlanCharge',
    method: 'post',
    path: CHARGES,
    summary: 'Add a charge to a plan',
    description: 'Usage of the current period is priced by it, too.',
    body: ChargeCreate,
    run: createPlanCharge,
  },
  {
    ...plan,
    kind: 'read',
    name: 'findPlanCharge',
    method: 'get',
    path: CHARGE,
    summary: 'Retrieve a charge of a plan',
    answer: ChargeEnvelope,
    run: showPlanCharge,
  },
  updateCharge,
  { ...updateCharge, name: 'patchPlanCharge', method: 'patch', hidden: true },
  {
    ...charge,
    ...deletion,
    name: 'destroyPlanCharge',
    path: CHARGE,
    summary: 'Delete a charge of a plan',
    run: deletePlanCharge,
  },
  {
    ...plan,
    kind: 'read',
    name: 'findAllPlanChargeFilters',
    method: 'get',
    path: FILTERS,
    summary: 'List filters of a charge',
    query: PageQuery,
    answer: ChargeFilterList,
    run: listPlanChargeFilters,
  },
  {
    ...filter,
    name: 'createPlanChargeFilter',
    method: 'post',
    path: FILTERS,
    summary: 'Add a filter to a charge',
    body: ChargeFilterCreate,
    run: createPlanChargeFilter,
  },
  {
    ...plan,
    kind: 'read',
    name: 'findPlanChargeFilter',
    method: 'get',
    path: FILTER,
    summary: 'Retrieve a filter of a charge',
    answer: ChargeFilterEnvelope,
    run: showPlanChargeFilter,
  },
  updateFilter,
  { ...updateFilter, name: 'patchPlanChargeFilter', method: 'patch', hidden: true },
  {
    ...filter,
    ...deletion,
    name: 'destroyPlanChargeFilter',
    path: FILTER,
    summary: 'Delete a filter of a charge',
    run: deletePlanChargeFilter,
  },
];
