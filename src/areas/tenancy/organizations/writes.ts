import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { OrganizationFields } from './queries.ts';

export const updateOrganizationRow = (
  { db, organizationId }: Scope,
  changes: Partial<OrganizationFields> & { updated_at: Temporal.Instant },
) => db`
  update organizations set ${db(columnValues(changes))} where id = ${organizationId}`;
