import type { Operation } from '../../../platform/operation.ts';
import {
  FixedChargeEnvelope,
  FixedChargeList,
  FixedChargeOverride,
  SubscriptionListQuery,
  SubscriptionQuery,
} from '../../catalog/fixed-charges/schema.ts';
import { overrideSubscriptionFixedCharge } from './commands.ts';
import { listSubscriptionFixedCharges, showSubscriptionFixedCharge } from './reads.ts';

const OF_SUBSCRIPTION = '/subscriptions/:external_id/fixed_charges';

const subscription = { permission: 'subscription', tag: 'subscriptions', answer: FixedChargeEnvelope } as const;

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

export const subscriptionFixedChargeOperations: Operation[] = [
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
