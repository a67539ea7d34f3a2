import type { Operation } from '../../../platform/operation.ts';
import { updateLifetimeUsage } from './commands.ts';
import { LifetimeUsageEnvelope, LifetimeUsageUpdate } from './schema.ts';
import { showLifetimeUsage } from './show-lifetime-usage.ts';

const own = {
  path: '/subscriptions/:external_id/lifetime_usage',
  permission: 'lifetime_usage',
  tag: 'subscriptions',
  answer: LifetimeUsageEnvelope,
} as const;

const update: Operation = {
  ...own,
  name: 'updateSubscriptionLifetimeUsage',
  method: 'put',
  summary: 'Set the usage of a subscription from before it',
  root: 'lifetime_usage',
  body: LifetimeUsageUpdate,
  kind: 'command',
  run: updateLifetimeUsage,
};

export const lifetimeUsageOperations: Operation[] = [
  {
    ...own,
    name: 'getSubscriptionLifetimeUsage',
    method: 'get',
    summary: 'Usage since a subscription began, with its thresholds',
    kind: 'read',
    run: showLifetimeUsage,
  },
  update,
  { ...update, name: 'patchSubscriptionLifetimeUsage', method: 'patch', hidden: true },
];
