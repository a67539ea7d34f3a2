import type { Reach } from '../periodic-job.ts';
import type { Db } from './connect.ts';

/** Rows of one organization, or of all organizations in real time: those with a test clock are left to its advances. */
export const inReach = (db: Db, reach: Reach, organizationId: ReturnType<Db>) =>
  reach === 'real-time'
    ? db`not exists (select from test_clocks clock where clock.organization_id = ${organizationId})`
    : db`${organizationId} = ${reach.organizationId}`;
