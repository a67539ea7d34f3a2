import { z } from 'zod';
import type { Operation } from '../../../platform/operation.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { createPlan, deletePlan, updatePlan } from './commands.ts';
import { Metadata } from './metadata.ts';
import {
  deleteAllPlanMetadata,
  deletePlanMetadataKey,
  mergePlanMetadata,
  replacePlanMetadata,
} from './metadata-commands.ts';
import { listAllPlans, showPlanByCode } from './reads.ts';
import { PlanCreate, PlanEnvelope, PlanList, PlanListQuery, PlanUpdate } from './schema.ts';

const plan = { permission: 'plan', tag: 'plans' } as const;
const write = { ...plan, kind: 'command', root: 'plan', answer: PlanEnvelope } as const;
const metadata = {
  ...plan,
  kind: 'command',
  path: '/plans/:code/metadata',
  root: 'metadata',
  body: Metadata.check(renameErrors(() => ['value'])),
  answer: z.object({ metadata: z.record(z.string(), z.string().nullable()).nullable() }),
} as const;

const update: Operation = {
  ...write,
  name: 'updatePlan',
  method: 'put',
  path: '/plans/:code',
  summary: 'Update a plan',
  description:
    'A changed amount holds from the next period, changed prices of usage from the current one. Overridden subscriptions follow with `cascade_updates`.',
  body: PlanUpdate,
  run: updatePlan,
};
const merge: Operation = {
  ...metadata,
  name: 'mergePlanMetadata',
  method: 'patch',
  summary: 'Merge metadata of a plan',
  run: mergePlanMetadata,
};

export const planOperations: Operation[] = [
  {
    ...write,
    name: 'createPlan',
    method: 'post',
    path: '/plans',
    summary: 'Create a plan',
    description:
      'Its charges price metrics that exist. A code that a plan has is refused with 422 `code: value_already_exist`.',
    body: PlanCreate,
    run: createPlan,
  },
  {
    ...plan,
    kind: 'read',
    name: 'findAllPlans',
    method: 'get',
    path: '/plans',
    summary: 'List plans',
    query: PlanListQuery,
    answer: PlanList,
    run: listAllPlans,
  },
  {
    ...plan,
    kind: 'read',
    name: 'findPlan',
    method: 'get',
    path: '/plans/:code',
    summary: 'Retrieve a plan',
    answer: PlanEnvelope,
    run: showPlanByCode,
  },
  update,
  { ...update, name: 'patchPlan', method: 'patch', hidden: true },
  {
    ...write,
    root: undefined,
    name: 'destroyPlan',
    method: 'delete',
    path: '/plans/:code',
    summary: 'Delete a plan',
    description: 'Its subscriptions are terminated first, each with its last invoice.',
    run: deletePlan,
  },
  {
    ...metadata,
    name: 'replacePlanMetadata',
    method: 'post',
    summary: 'Replace metadata of a plan',
    run: replacePlanMetadata,
  },
  merge,
  { ...merge, name: 'putPlanMetadata', method: 'put', hidden: true },
  {
    ...metadata,
    root: undefined,
    body: undefined,
    name: 'deleteAllPlanMetadata',
    method: 'delete',
    summary: 'Delete all metadata of a plan',
    run: deleteAllPlanMetadata,
  },
  {
    ...metadata,
    root: undefined,
    body: undefined,
    name: 'deletePlanMetadataKey',
    method: 'delete',
    path: '/plans/:code/metadata/:key',
    summary: 'Delete one metadata key of a plan',
    run: deletePlanMetadataKey,
  },
];
