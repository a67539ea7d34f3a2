import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { MappingRow } from './queries.ts';
import type { MappedType } from './schema.ts';

type Named = Exclude<MappedType, 'default'>;

/** What a code of each type belongs to: the table that holds it, and what the answer calls it. */
const RESOURCES: Readonly<Record<Named, { table: string; resource: string }>> = {
  billable_metric: { table: 'billable_metrics', resource: 'billable_metric' },
  plan: { table: 'plans', resource: 'plan' },
  add_on: { table: 'add_ons', resource: 'add_on' },
  // A fixed charge is the add-on that it sells, a minimum commitment the plan that has it.
  fixed_charge: { table: 'add_ons', resource: 'add_on' },
  commitment: { table: 'plans', resource: 'plan' },
};

/** @throws Refusal 404 of the resource whose code is unknown; 422 resource_code, where it is missing */
export async function demandResources({ db, organizationId }: Scope, mappings: readonly MappingRow[]): Promise<void> {
  if (mappings.some(({ resource_type, resource_code }) => resource_type !== 'default' && resource_code === ''))
    throw refuse.invalid({ resource_code: ['value_is_mandatory'] });
  for (const [type, { table, resource }] of Object.entries(RESOURCES) as [Named, (typeof RESOURCES)[Named]][]) {
    const codes = mappings.filter((mapping) => mapping.resource_type === type).map((mapping) => mapping.resource_code);
    if (codes.length === 0) continue;
    const known = await db<{ code: string }[]>`
      select distinct code from ${tableNamed(db, table)}
      where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null`;
    if (known.length < new Set(codes).size) throw refuse.notFound(resource);
  }
}

const tableNamed = (db: Db, table: string): Fragment => db`${db(table)}`;
