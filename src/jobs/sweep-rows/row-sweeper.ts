import { sweepVatChecks } from '../../areas/customers/check-vat-numbers/jobs.ts';
import { sweepEDocuments } from '../../areas/documents/e-documents/jobs.ts';
import { sweepDocuments } from '../../areas/documents/render-documents/jobs.ts';
import { sweepMails } from '../../areas/messaging/send-mails/jobs.ts';
import { sweepBuildingShapes } from '../../areas/usage/build-shapes/build-shape.ts';
import { sweepEventBatches } from '../../areas/usage/ingest-events/finish-batches.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { SweepDeps, SweepJob } from '../../platform/periodic-job.ts';
import { nudgeLostSteps } from './lost-steps.ts';
import { nudgeLostTicks } from './lost-ticks.ts';

/** Age from which an open batch of events has lost its job. */
const LOST_AFTER_SECONDS = 120;

/** Rows whose job was lost are nudged again (everywhere.md#postgres-is-the-truth, periodic-jobs.md#row-sweeper). */
export const rowSweeper: SweepJob = {
  name: 'row-sweeper',
  async sweep(deps: SweepDeps) {
    const now = realNow();
    await Promise.all([
      nudgeLostSteps(deps, now),
      nudgeLostTicks(deps, now),
      sweepEventBatches(deps, now.subtract({ seconds: LOST_AFTER_SECONDS }), now),
      sweepBuildingShapes(deps, now),
      sweepVatChecks(deps, now),
      sweepMails(deps),
      sweepDocuments(deps, now.subtract({ seconds: LOST_AFTER_SECONDS }), now),
      sweepEDocuments(deps, now.subtract({ seconds: LOST_AFTER_SECONDS }), now),
    ]);
  },
};
