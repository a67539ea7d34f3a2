import type { Operation } from '../../../platform/operation.ts';
import { CascadeBody } from '../charges/schema.ts';
import {
  FixedChargeEnvelope,
  FixedChargeInput,
  FixedChargeList,
  FixedChargeListQuery,
} from '../fixed-charges/schema.ts';
import { createPlanFixedCharge, deletePlanFixedCharge, updatePlanFixedCharge } from './commands.ts';
import { listPlanFixedCharges, showPlanFixedCharge } from './reads.ts';

const FIXED_CHARGES = '/plans/:code/fixed_charges';
const FIXED_CHARGE = `${FIXED_CHARGES}/:fixed_charge_code`;

const plan = { permission: 'plan', tag: 'plans', answer: FixedChargeEnvelope } as const;
const write = { ...plan, kind: 'command', root: 'fixed_charge' } as const;

const update: Operation = {
  ...write,
  name: 'updatePlanFixedCharge',
  method: 'put',
  path: FIXED_CHARGE,
  summary: 'Update a fixed charge of a plan',
  body: FixedChargeInput,
  run: updatePlanFixedCharge,
};

export const fixedChargeOperations: Operation[] = [
  {
    ...plan,
    kind: 'read',
    name: 'findAllPlanFixedCharges',
    method: 'get',
    path: FIXED_CHARGES,
    summary: 'List fixed charges of a plan',
    query: FixedChargeListQuery,
    answer: FixedChargeList,
    run: listPlanFixedCharges,
  },
  {
    ...write,
    name: 'createPlanFixedCharge',
    method: 'post',
    path: FIXED_CHARGES,
    summary: 'Add a fixed charge to a plan',
    body: FixedChargeInput,
    run: createPlanFixedCharge,
  },
  {
    ...plan,
    kind: 'read',
    name: 'findPlanFixedCharge',
    method: 'get',
    path: FIXED_CHARGE,
    summary: 'Retrieve a fixed charge of a plan',
    run: showPlanFixedCharge,
  },
  update,
  { ...update, name: 'patchPlanFixedCharge', method: 'patch', hidden: true },
  {
    ...write,
    name: 'destroyPlanFixedCharge',
    method: 'delete',
    path: FIXED_CHARGE,
    summary: 'Delete a fixed charge of a plan',
    body: CascadeBody,
    bodyOptional: true,
    run: deletePlanFixedCharge,
  },
];
