import { z } from 'zod';
import { crud } from '../../../platform/crud.ts';
import type { Operation } from '../../../platform/operation.ts';
import { viewSchema } from '../../../platform/schema/columns.ts';
import { createFeature, deleteFeature, deleteFeaturePrivilege, updateFeature } from './commands.ts';
import { features } from './queries.ts';
import { listFeatures, showFeature } from './reads.ts';
import { FeatureCreate, FeaturesQuery, FeatureUpdate, UsageLimits, UsageLimitsDocumented } from './schema.ts';
import { setUsageLimits } from './usage-limits.ts';

const view = viewSchema(features);
const common = { permission: 'feature', tag: 'features', answer: z.object({ feature: view }) } as const;

export const featureOperations: Operation[] = [
  ...crud('feature', {
    words: { one: 'a feature', listed: 'features' },
    schemas: { create: FeatureCreate, update: FeatureUpdate, view, query: FeaturesQuery },
    run: {
      create: createFeature,
      list: listFeatures,
      show: showFeature,
      update: updateFeature,
      destroy: deleteFeature,
    },
  }),
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
