import type { OrganizationId, PaymentProviderId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';

/** A connection that was changed in this time has a job of its own under way. */
const LOST_AFTER_MINUTES = 5;
const CHECKED_EVERY_HOURS = 24;
/** How many connections one run checks; more wait for the next. */
const AT_ONCE = 500;

/**
 * Checks connections: those of which nothing is known yet and those that owe the registration of our address each time,
 * the others once a day. Rules: periodic-jobs.md#check-providers, provider-connections.md#checking.
 */
export const checkProviders: SweepJob = {
  name: 'check-providers',
  async sweep({ sql, producer }, at) {
    const due = await sql<{ organization_id: OrganizationId; payment_provider_id: PaymentProviderId }[]>`
      select organization_id, id as payment_provider_id from payment_providers
      where deleted_at is null and provider_type = any (${NETWORK_TYPES})
        and updated_at < ${at.subtract({ minutes: LOST_AFTER_MINUTES })}
        and (status = 'unverified' or inbound_owed_at is not null
          or coalesce(checked_at, created_at) < ${at.subtract({ hours: CHECKED_EVERY_HOURS })})
      order by checked_at nulls first, id limit ${AT_ONCE}`;
    await producer.addMany(
      'payment.connect',
      due.map((payload) => ({
        payload,
        options: { id: `connect-${payload.payment_provider_id}`, forgetFailed: true },
      })),
    );
  },
};
