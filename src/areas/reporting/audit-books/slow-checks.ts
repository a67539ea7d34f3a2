import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { verify } from '../../invoices/invoice-verifications/verify-invoice.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Invoices that are computed again in a night. Rule: auditor.md#a27. */
const VERIFIED_A_NIGHT = 50;

/** Checks that examine samples or whole tables: nightly and on request. */
export const SLOW_CHECKS: readonly Check[] = [
  {
    code: 'A25',
    mustHold: 'child rows carry the organization of their parent',
    resourceType: 'Row',
    isSlow: true,
    find: findStrayRows,
  },
  {
    code: 'A27-verify',
    mustHold: 'a sample of issued invoices is what its inputs amount to',
    resourceType: 'Invoice',
    isSlow: true,
    find: verifySample,
  },
];

interface ForeignKey {
  child: string;
  child_column: string;
  parent: string;
}

/** Every single-column foreign key between tables with an organization, from the schema itself. */
async function findStrayRows({ db, organizationId }: Context): Promise<Finding[]> {
  const keys = await db<ForeignKey[]>`
    select child.relname as child, attribute.attname as child_column, parent.relname as parent
    from pg_constraint key
    join pg_class child on child.oid = key.conrelid and child.relnamespace = current_schema()::regnamespace
    join pg_class parent on parent.oid = key.confrelid and parent.relname <> 'organizations'
    join pg_attribute attribute on attribute.attrelid = child.oid and attribute.attnum = key.conkey[1]
    where key.contype = 'f' and array_length(key.conkey, 1) = 1 and key.conparentid = 0
      and exists (select from pg_attribute a where a.attrelid = child.oid and a.attname = 'organization_id')
      and exists (select from pg_attribute a where a.attrelid = parent.oid and a.attname = 'organization_id')
      and exists (select from pg_attribute a where a.attrelid = parent.oid and a.attname = 'id')
    order by 1, 2`;
  const found: Finding[] = [];
  for (const { child, child_column, parent } of keys) {
    const rows = await db<{ id: string; other: string }[]>`
      select child.${db(child_column)}::text as id, parent.organization_id::text as other
      from ${db(child)} child
      join ${db(parent)} parent on parent.id = child.${db(child_column)}
      where child.organization_id = ${organizationId} and parent.organization_id <> child.organization_id
      limit ${MOST_FINDINGS}`;
    for (const { id, other } of rows)
      found.push({
        resource_id: `${child}.${child_column}:${id}`,
        expected: organizationId,
        actual: other,
        details: { child, column: child_column, parent },
      });
  }
  return found.slice(0, MOST_FINDINGS);
}

async function verifySample(ctx: Context): Promise<Finding[]> {
  const sample = await ctx.db<{ id: InvoiceId }[]>`
    select id from invoices
    where organization_id = ${ctx.organizationId} and status = 'finalized'
    order by random()
    limit ${VERIFIED_A_NIGHT}`;
  const found: Finding[] = [];
  for (const { id } of sample) {
    const invoice = await getVisibleInvoice(ctx, id);
    const { status, differences } = await verify(ctx, invoice, { level: 'inputs', isLarge: true });
    if (status === 'different')
      found.push({
        resource_id: id,
        expected: 'equal',
        actual: status,
        details: { differences: differences.slice(0, 20) },
      });
  }
  return found;
}
