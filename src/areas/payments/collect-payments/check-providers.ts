import { takeInTurn } from '../../../platform/db/rows-in-turn.ts';
import type { PaymentProviderId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';

/** A connection that was changed in this time has a job of its own under way. */
const LOST_AFTER_MINUTES = 5;
const CHECKED_EVERY_HOURS = 24;
/** How many connections of one organization a run checks; more wait for the next. */
const AT_ONCE_OF_ORGANIZATION = 50;

/**
 * Checks connections: those of which nothing is known yet and those that owe the registration of our address each time,
 * the others once a day. Rules: periodic-jobs.md#check-providers, provider-connections.md#checking.
 */
export const checkProviders: SweepJob = {
  name: 'check-providers',
  async sweep({ sql, producer }, at) {
    const due = await takeInTurn<PaymentProviderId>(sql, at, {
      table: 'payment_providers',
      mostOfOrganization: AT_ONCE_OF_ORGANIZATION,
      due: sql`record.deleted_at is null and record.provider_type = any (${NETWORK_TYPES})
        and record.updated_at < ${at.subtract({ minutes: LOST_AFTER_MINUTES })}
        and (record.status = 'unverified' or record.inbound_owed_at is not null
          or coalesce(record.checked_at, record.created_at) < ${at.subtract({ hours: CHECKED_EVERY_HOURS })})`,
    });
    await producer.addMany(
      'payment.connect',
      due.map(({ organization_id, id }) => ({
        payload: { organization_id, payment_provider_id: id },
        options: { id: `connect-${id}`, forgetFailed: true },
      })),
    );
  },
};
