import type { CustomerId, OrganizationId } from '../ids.ts';
import type { Producer } from '../queue/producer.ts';
import type { Nudges } from './write-records.ts';

/**
 * After the commit: enqueues the jobs of recorded deliveries and steps, and invalidates the cache of access checks.
 * Sweepers make up for lost nudges, so a failure here is not an error of the command.
 */
export async function nudge(producer: Producer, organizationId: OrganizationId, nudges: Nudges): Promise<void> {
  for (const { webhook_endpoint_id, id } of nudges.deliveries)
    producer.deliver(organizationId, webhook_endpoint_id, [id]);
  const stepJobs = nudges.steps
    .filter((step) => step.dueNow)
    .map((step) => stepJob({ id: step.id, organization_id: organizationId, customer_id: step.customerId }));
  await Promise.allSettled([
    nudges.accessChanges && nudges.accessChanges.length > 0
      ? producer.accessChanged(organizationId, nudges.accessChanges)
      : undefined,
    producer.addMany('step.run', stepJobs),
    ...(nudges.jobs ?? []).map(({ name, payload, inBackground }) =>
      producer.add(name, payload as never, { inBackground }),
    ),
  ]);
}

/**
 * The job of an after-step.
 *
 * by part of the job's id if the step was nudged before, because the failed job of that nudge may still be stored
 */
export const stepJob = (
  step: { id: string; organization_id: OrganizationId; customer_id: CustomerId | null },
  by?: string,
) => ({
  payload: {
    step_id: step.id,
    organization_id: step.organization_id,
    ...(step.customer_id === null ? {} : { customer_key: step.customer_id }),
  },
  options: { id: by === undefined ? `step-${step.id}` : `step-${step.id}-${by}` },
});
