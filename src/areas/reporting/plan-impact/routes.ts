import type { Operation } from '../../../platform/operation.ts';
import { showPlanImpact } from './reads.ts';
import { PlanImpact } from './schema.ts';

export const planImpactOperations: Operation[] = [
  {
    name: 'findPlanImpact',
    method: 'get',
    path: '/plans/:code/impact',
    permission: 'plan',
    tag: 'plans',
    summary: 'Whom a change of a plan concerns',
    answer: PlanImpact,
    kind: 'read',
    run: showPlanImpact,
  },
];
