import type { Sql } from '../../src/platform/db/connect.ts';

/** The customer that an invoice is for. */
export interface Billed {
  customer_id: string;
  subscription_id: string;
  external_id: string;
}

/** Columns of a table, with the given ones replaced by an expression. */
async function copyOf(sql: Sql, table: string, replaced: Record<string, string>, from = table): Promise<string> {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      and attname not in ('position')
    order by attnum`;
  const names = rows.map(({ name }) => name);
  return `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
    select ${names.map((name) => replaced[name] ?? `source."${name}"`).join(', ')} from ${from} source`;
}

/**
 * Makes the function that stores one invoice like a given one by the fewest statements that it needs, each sent once,
 * in one transaction: lock, usage, invoice, line, fees with inputs, journal, number, audit line, next date.
 */
export async function bareInvoices(sql: Sql, organizationId: string, invoiceId: string) {
  const of = `where source.organization_id = '${organizationId}' and source.invoice_id = '${invoiceId}'`;
  const invoice = await copyOf(sql, 'invoices', {
    id: '$1::uuid',
    customer_id: '$2::uuid',
    number: "'BARE-' || $1::uuid::text",
    sequential_id: 'null',
    billing_entity_sequential_id: 'null',
  });
  const line = await copyOf(sql, 'invoice_subscriptions', {
    id: 'gen_random_uuid()',
    invoice_id: '$1::uuid',
    subscription_id: '$2::uuid',
  });
  const fees = await copyOf(sql, 'fees', {
    id: 'gen_random_uuid()',
    invoice_id: '$1::uuid',
    customer_id: '$2::uuid',
    subscription_id: '$3::uuid',
  });
  const journal = await copyOf(sql, 'ledger_transactions', { id: '$1::uuid', source_id: '$1::uuid' });
  const entries = await copyOf(sql, 'ledger_entries', {
    id: 'gen_random_uuid()',
    transaction_id: '$1::uuid',
    invoice_id: '$1::uuid',
    customer_id: '$2::uuid',
  });
  const inputs = await copyOf(sql, 'invoice_inputs', { invoice_id: '$1::uuid' });
  const activity = await copyOf(sql, 'activity_logs', { id: 'gen_random_uuid()', resource_id: '$1::uuid' });

  return ({ customer_id, subscription_id, external_id }: Billed) =>
    sql.begin(async (tx) => {
      const id = crypto.randomUUID();
      await tx`select id from customers
        where organization_id = ${organizationId} and id = ${customer_id} for no key update`;
      await tx`
        select shape_id, sum(sum) from usage_buckets
        where organization_id = ${organizationId} and external_subscription_id = ${external_id}
        group by 1`;
      await tx.unsafe(`${invoice} where source.id = '${invoiceId}'`, [id, customer_id]);
      await tx.unsafe(`${line} ${of}`, [id, subscription_id]);
      await tx.unsafe(
        `with made as (${fees} ${of} returning id, charge_id)
        insert into fee_inputs (fee_id, organization_id, engine_version, inputs, digest, events_watermark, created_at)
        select made.id, known.organization_id, known.engine_version, known.inputs, known.digest, known.events_watermark,
          known.created_at
        from made
        join fees source on source.charge_id is not distinct from made.charge_id
        join fee_inputs known on known.fee_id = source.id
        ${of}`,
        [id, customer_id, subscription_id],
      );
      await tx.unsafe(`${inputs} ${of}`, [id]);
      await tx.unsafe(
        `${journal} where source.organization_id = '${organizationId}' and source.source_id = '${invoiceId}'`,
        [id],
      );
      await tx.unsafe(`${entries} ${of}`, [id, customer_id]);
      await tx`
        insert into customer_invoice_sequences (organization_id, customer_id, billing_entity_id, last)
        select organization_id, id, billing_entity_id, 1 from customers where id = ${customer_id}
        on conflict (organization_id, customer_id, billing_entity_id) do update
          set last = customer_invoice_sequences.last + 1`;
      await tx.unsafe(
        `${activity} where source.organization_id = '${organizationId}' and source.resource_id = '${invoiceId}'`,
        [id],
      );
      await tx`update subscriptions set updated_at = updated_at where id = ${subscription_id}`;
    });
}
