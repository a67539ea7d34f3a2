import type { Sql } from '../../../platform/db/connect.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { buildShape } from './build-shape.ts';
import { guardGroups } from './repair-hours.ts';

/** Handlers of the rollup jobs in the aggregation queue. */
export const shapeHandlers = ({ sql }: { sql: Sql }): Pick<Handlers, 'rollup.build-shape' | 'rollup.guard'> => ({
  'rollup.build-shape': (job) => buildShape({ db: sql, organizationId: job.organization_id }, job.shape_id),
  'rollup.guard': (job) =>
    guardGroups({ db: sql, organizationId: job.organization_id }, job.shape_id, job.external_subscription_id),
});
