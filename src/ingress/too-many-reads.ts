import type { OrganizationId } from '../platform/ids.ts';
import type { Log } from '../platform/log/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';

/** Thousands may be refused in a second, so one line states how many of which organization. */
const LINE_EVERY_MS = 10_000;

/**
 * Counts and logs reads that are refused because their organization has too many; this is not an outage.
 *
 * of the resource they waited for
 */
export function noteRefusals(
  of: string,
  { log, metrics }: { log: Log; metrics: Metrics },
): (organizationId: OrganizationId) => void {
  const refused = new Map<string, number>();
  const write = () => {
    for (const [organization_id, reads] of refused)
      log.warn({ organization_id, reads, of }, 'too many reads of one organization');
    refused.clear();
  };
  return (organizationId) => {
    metrics.readsRefused.inc({ of });
    if (refused.size === 0) setTimeout(write, LINE_EVERY_MS).unref();
    refused.set(organizationId, (refused.get(organizationId) ?? 0) + 1);
  };
}
