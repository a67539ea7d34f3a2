import type { Operation } from '../../../platform/operation.ts';
import { EntitlementsDocumented, EntitlementsInput } from '../../catalog/entitlements/schema.ts';
import { StatusQuery, SubscriptionEntitlementList, SubscriptionEntitlementTaken } from '../entitlements/schema.ts';
import {
  deleteSubscriptionEntitlement,
  deleteSubscriptionEntitlementPrivilege,
  patchSubscriptionEntitlements,
} from './commands.ts';
import { listSubscriptionEntitlements } from './reads.ts';

const SUBSCRIPTION = '/subscriptions/:external_id/entitlements';
const FEATURE = '/:feature_code';
const PRIVILEGE = `${FEATURE}/privileges/:privilege_code`;

const subscription = { permission: 'subscription', tag: 'entitlements', query: StatusQuery } as const;
const input = { kind: 'command', body: EntitlementsInput, documentedBody: EntitlementsDocumented } as const;

export const subscriptionEntitlementOperations: Operation[] = [
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
