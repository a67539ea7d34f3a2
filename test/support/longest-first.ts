import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that take long: by their size they would come last, and one worker would wait for the other. */
const LONG_FILES = [
  'test/proof/pm2.test.ts',
  'test/contract/bad-bodies.proof.test.ts',
  'test/readme.proof.test.ts',
  'test/areas/billing/correct-events/corrections-that-wait.test.ts',
  'test/areas/payments/reconcile-providers.proof.test.ts',
  'test/areas/lists/blocks.proof.test.ts',
  'test/areas/billing/correct-events/turns-of-corrections.test.ts',
  'test/areas/payments/drift-kinds.proof.test.ts',
  'test/areas/payments/collect-by-custom.test.ts',
  'test/commands/start.proof.test.ts',
  'test/areas/messaging/deliver-webhooks/recovery.proof.test.ts',
  'test/jobs/run-steps/killed-worker.proof.test.ts',
  'test/proof/faults.test.ts',
  'test/jobs/run-command/killed-worker.proof.test.ts',
  'test/platform/services/bring-services.proof.test.ts',
  'test/areas/billing/correct-events/settle.test.ts',
  'test/areas/billing/bill-subscriptions/burst.test.ts',
  'test/areas/billing/preview-locks.test.ts',
  'test/ingress/watch-pools.proof.test.ts',
  'test/platform/services/postgres-role.proof.test.ts',
  'test/areas/billing/tax-engines/what-engines-hold.test.ts',
  'test/commands/org.proof.test.ts',
  'test/areas/credits/held-sum.test.ts',
  'test/platform/documents/pages.test.ts',
  'test/platform/queue/turns.test.ts',
  'test/areas/usage/usage-in-slices.test.ts',
  'test/platform/process/await-stores.test.ts',
  'test/proof/image.test.ts',
  'test/areas/billing/correct-events/settle-any-order.test.ts',
  'test/areas/usage/access/counters.test.ts',
  'test/commands/refused-starts.proof.test.ts',
  'test/contract/examples.test.ts',
  'test/areas/billing/bill-subscriptions/grace-stories.test.ts',
  'test/areas/billing/correct-events/any-order.test.ts',
  'test/ingress/rate-limit.test.ts',
];

/** Begins with LONG_FILES; the others come as they would, by what they took last time or by their size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONG_FILES.findIndex((file) => moduleId.endsWith(`/${file}`));
      return index < 0 ? LONG_FILES.length : index;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
