import type { Runtime } from '../../../platform/process/runtime.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { listMarkedOrganizations } from './marked-sources.ts';
import { rollUpAnalytics } from './roll-up.ts';

/** Interval of the roll-up. Reads count marked sources themselves, so reports never lag behind. */
const LOOK_EVERY_MS = 1000;
const ORGANIZATIONS_AT_ONCE = 100;

/** Handler of `analytics.roll-up`; run twice, the second one finds nothing. */
export const analyticsHandlers = ({ sql }: Pick<Runtime, 'sql'>): Pick<Handlers, 'analytics.roll-up'> => ({
  'analytics.roll-up': ({ organization_id }) => rollUpAnalytics({ db: sql, organizationId: organization_id }),
});

/** Finds organizations with marked sources and nudges the queue for each. */
export function watchAnalyticsMarks(deps: Pick<Runtime, 'sql' | 'producer' | 'log'>): { close(): Promise<void> } {
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    looking = nudgeMarked(deps)
      .catch((error: Error) => deps.log.warn({ err: error.message }, 'marks of analytics not looked for')) // the next look tries again
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}

async function nudgeMarked({ sql, producer }: Pick<Runtime, 'sql' | 'producer'>): Promise<void> {
  const marked = await listMarkedOrganizations(sql, ORGANIZATIONS_AT_ONCE);
  await producer.addMany(
    'analytics.roll-up',
    marked.map(({ organization_id }) => ({
      payload: { organization_id },
      options: { id: `roll-up-${organization_id}`, forgetFailed: true },
    })),
  );
}
