import type { Operation } from '../../../platform/operation.ts';
import {
  deletePlanEntitlement,
  deletePlanEntitlementPrivilege,
  mergePlanEntitlements,
  replacePlanEntitlements,
} from './plan-commands.ts';
import { listPlanEntitlements, listSubscriptionEntitlements, showPlanEntitlement } from './reads.ts';
import {
  EntitlementsDocumented,
  EntitlementsInput,
  PlanEntitlementEnvelope,
  PlanEntitlementList,
  StatusQuery,
  SubscriptionEntitlementList,
  SubscriptionEntitlementTaken,
} from './schema.ts';
import {
  deleteSubscriptionEntitlement,
  deleteSubscriptionEntitlementPrivilege,
  patchSubscriptionEntitlements,
} from './subscription-commands.ts';

const PLAN = '/plans/:code/entitlements';
const SUBSCRIPTION = '/subscriptions/:external_id/entitlements';
const FEATURE = '/:feature_code';
const PRIVILEGE = `${FEATURE}/privileges/:privilege_code`;

const plan = { permission: 'plan', tag: 'entitlements' } as const;
const subscription = { permission: 'subscription', tag: 'entitlements', query: StatusQuery } as const;
const input = { kind: 'command', body: EntitlementsInput, documentedBody: EntitlementsDocumented } as const;

export const entitlementOperations: Operation[] = [
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
  {
    ...subscription,
    name: 'findAllSubscriptionEntitlements',
    method: 'get',
    path: SUBSCRIPTION,
    summary: 'List the entitlements of a subscription',
    answer: SubscriptionEntitlementList,
    kind: 'read',
    run: listSubscriptionEntitlements,
  },
  {
    ...subscription,
    ...input,
    name: 'updateSubscriptionEntitlements',
    method: 'patch',
    path: SUBSCRIPTION,
    summary: 'Override entitlements for one subscription',
    answer: SubscriptionEntitlementList,
    run: patchSubscriptionEntitlements,
  },
  {
    ...subscription,
    name: 'destroySubscriptionEntitlement',
    method: 'delete',
    path: SUBSCRIPTION + FEATURE,
    summary: 'Take a feature from one subscription',
    answer: SubscriptionEntitlementTaken,
    kind: 'command',
    run: deleteSubscriptionEntitlement,
  },
  {
    ...subscription,
    name: 'destroySubscriptionEntitlementPrivilege',
    method: 'delete',
    path: SUBSCRIPTION + PRIVILEGE,
    summary: 'Take a privilege of a feature from one subscription',
    answer: SubscriptionEntitlementTaken,
    kind: 'command',
    run: deleteSubscriptionEntitlementPrivilege,
  },
];
