import type { Operation } from '../../../platform/operation.ts';
import { CascadeBody } from '../charges/schema.ts';
import { createPlanFixedCharge, deletePlanFixedCharge, updatePlanFixedCharge } from './commands.ts';
import {
  listPlanFixedCharges,
  listSubscriptionFixedCharges,
  showPlanFixedCharge,
  showSubscriptionFixedCharge,
} from './reads.ts';
import {
  FixedChargeEnvelope,
  FixedChargeInput,
  FixedChargeList,
  FixedChargeListQuery,
  FixedChargeOverride,
  SubscriptionListQuery,
  SubscriptionQuery,
} from './schema.ts';
import { overrideSubscriptionFixedCharge } from './subscription-commands.ts';

const FIXED_CHARGES = '/plans/:code/fixed_charges';
const FIXED_CHARGE = `${FIXED_CHARGES}/:fixed_charge_code`;
const OF_SUBSCRIPTION = '/subscriptions/:external_id/fixed_charges';

const plan = { permission: 'plan', tag: 'plans', answer: FixedChargeEnvelope } as const;
const write = { ...plan, kind: 'command', root: 'fixed_charge' } as const;
const subscription = { permission: 'subscription', tag: 'subscriptions', answer: FixedChargeEnvelope } as const;

const update: Operation = {
  ...write,
  name: 'updatePlanFixedCharge',
  method: 'put',
  path: FIXED_CHARGE,
  summary: 'Update a fixed charge of a plan',
  body: FixedChargeInput,
  run: updatePlanFixedCharge,
};

const override: Operation = {
  ...subscription,
  kind: 'command',
  name: 'overrideSubscriptionFixedCharge',
  method: 'put',
  path: `${OF_SUBSCRIPTION}/:fixed_charge_code`,
  summary: 'Override a fixed charge for a subscription',
  root: 'fixed_charge',
  query: SubscriptionQuery,
  body: FixedChargeOverride,
  run: overrideSubscriptionFixedCharge,
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
  {
    ...subscription,
    kind: 'read',
    name: 'findAllSubscriptionFixedCharges',
    method: 'get',
    path: OF_SUBSCRIPTION,
    summary: 'List fixed charges of a subscription',
    query: SubscriptionListQuery,
    answer: FixedChargeList,
    run: listSubscriptionFixedCharges,
  },
  {
    ...subscription,
    kind: 'read',
    name: 'findSubscriptionFixedCharge',
    method: 'get',
    path: `${OF_SUBSCRIPTION}/:fixed_charge_code`,
    summary: 'Retrieve a fixed charge of a subscription',
    query: SubscriptionQuery,
    run: showSubscriptionFixedCharge,
  },
  override,
  { ...override, name: 'patchSubscriptionFixedCharge', method: 'patch', hidden: true },
];
