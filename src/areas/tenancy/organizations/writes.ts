import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { OrganizationFields } from './queries.ts';

export const updateOrganizationRow = (
  db: Db,
  organizationId: string,
  changes: Partial<OrganizationFields> & { updated_at: Temporal.Instant },
) => db`
  update organizations set ${db(changes as unknown as Record<string, never>)} where id = ${organizationId}`;
