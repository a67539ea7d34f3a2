import type { Operation } from '../../../platform/operation.ts';
import { report } from '../analytics/routes.ts';
import { showOverview } from './reads.ts';
import { Overview, OverviewQuery } from './schema.ts';

export const overviewOperations: Operation[] = [
  report({
    name: 'findOverview',
    path: '/analytics/overview',
    summary: 'How the month is going, by currency',
    query: OverviewQuery,
    answer: Overview,
    run: showOverview,
  }),
];
