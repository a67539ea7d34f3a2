import type { Operation } from '../../../platform/operation.ts';
import {
  EntitlementsDocumented,
  EntitlementsInput,
  PlanEntitlementEnvelope,
  PlanEntitlementList,
} from '../entitlements/schema.ts';
import {
  deletePlanEntitlement,
  deletePlanEntitlementPrivilege,
  mergePlanEntitlements,
  replacePlanEntitlements,
} from './commands.ts';
import { listPlanEntitlements, showPlanEntitlement } from './reads.ts';

const PLAN = '/plans/:code/entitlements';
const FEATURE = '/:feature_code';
const PRIVILEGE = `${FEATURE}/privileges/:privilege_code`;

const plan = { permission: 'plan', tag: 'entitlements' } as const;
const input = { kind: 'command', body: EntitlementsInput, documentedBody: EntitlementsDocumented } as const;

export const planEntitlementOperations: Operation[] = [
  {
    ...plan,
    name: 'findAllEntitlements',
    method: 'get',
    path: PLAN,
    summary: 'List the entitlements of a plan',
    answer: PlanEntitlementList,
    kind: 'read',
    run: listPlanEntitlements,
  },
  {
    ...plan,
    ...input,
    name: 'createEntitlement',
    method: 'post',
    path: PLAN,
    summary: 'Replace the entitlements of a plan',
    answer: PlanEntitlementList,
    run: replacePlanEntitlements,
  },
  {
    ...plan,
    ...input,
    name: 'updateEntitlement',
    method: 'patch',
    path: PLAN,
    summary: 'Add to the entitlements of a plan',
    answer: PlanEntitlementList,
    run: mergePlanEntitlements,
  },
  {
    ...plan,
    name: 'findEntitlement',
    method: 'get',
    path: PLAN + FEATURE,
    summary: 'Retrieve an entitlement of a plan',
    answer: PlanEntitlementEnvelope,
    kind: 'read',
    run: showPlanEntitlement,
  },
  {
    ...plan,
    name: 'destroyEntitlement',
    method: 'delete',
    path: PLAN + FEATURE,
    summary: 'Take a feature from a plan',
    answer: PlanEntitlementEnvelope,
    kind: 'command',
    run: deletePlanEntitlement,
  },
  {
    ...plan,
    name: 'removeEntitlementPrivilege',
    method: 'delete',
    path: PLAN + PRIVILEGE,
    summary: 'Take a privilege of a feature from a plan',
    answer: PlanEntitlementEnvelope,
    kind: 'command',
    run: deletePlanEntitlementPrivilege,
  },
];
