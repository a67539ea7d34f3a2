import type { Operation } from '../../../platform/operation.ts';
import { createFeature, deleteFeature, deleteFeaturePrivilege, updateFeature } from './commands.ts';
import { listAllFeatures, showFeature } from './reads.ts';
import {
  FeatureCreate,
  FeatureEnvelope,
  FeatureList,
  FeaturesQuery,
  FeatureUpdate,
  UsageLimits,
  UsageLimitsDocumented,
} from './schema.ts';
import { setUsageLimits } from './usage-limits.ts';

const common = { permission: 'feature', tag: 'features', answer: FeatureEnvelope } as const;

const update: Operation = {
  ...common,
  name: 'updateFeature',
  method: 'put',
  path: '/features/:code',
  summary: 'Update a feature',
  root: 'feature',
  body: FeatureUpdate,
  kind: 'command',
  run: updateFeature,
};

export const featureOperations: Operation[] = [
  {
    ...common,
    name: 'createFeature',
    method: 'post',
    path: '/features',
    summary: 'Create a feature',
    root: 'feature',
    body: FeatureCreate,
    kind: 'command',
    run: createFeature,
  },
  {
    ...common,
    name: 'findAllFeatures',
    method: 'get',
    path: '/features',
    summary: 'List features',
    query: FeaturesQuery,
    answer: FeatureList,
    kind: 'read',
    run: listAllFeatures,
  },
  {
    ...common,
    name: 'findFeature',
    method: 'get',
    path: '/features/:code',
    summary: 'Retrieve a feature',
    kind: 'read',
    run: showFeature,
  },
  update,
  { ...update, name: 'patchFeature', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyFeature',
    method: 'delete',
    path: '/features/:code',
    summary: 'Delete a feature',
    kind: 'command',
    run: deleteFeature,
  },
  {
    ...common,
    name: 'deleteFeaturePrivilege',
    method: 'delete',
    path: '/features/:code/privileges/:privilege_code',
    summary: 'Delete a privilege of a feature',
    kind: 'command',
    run: deleteFeaturePrivilege,
  },
  {
    ...common,
    name: 'setFeatureUsageLimits',
    method: 'put',
    path: '/features/:code/usage_limits',
    summary: 'Limit usage by the values of privileges',
    body: UsageLimits,
    documentedBody: UsageLimitsDocumented,
    kind: 'command',
    run: setUsageLimits,
  },
];
