-- Why: previews change copies of the rows that they are about. Temporary tables for them were written to the catalog by
-- each preview, 244 kB of it, which all organizations share; these stay, and are empty outside of previews.
-- Locks: only new tables.

create function drop_preview_tables() returns void language plpgsql as $$
declare
  own constant text := current_schema();
  part text;
begin
  -- In the order in which a preview takes them, so that neither waits for the other for ever.
  foreach part in array array['_preview_1', '_preview_2', '_preview_fees_1', '_preview_fees_2', '_preview_draft'] loop
    continue when to_regnamespace(quote_ident(own || part)) is null;
    if obj_description(to_regnamespace(quote_ident(own || part)), 'pg_namespace')
        is distinct from 'Tables of previews.' then
      raise exception 'schema % is not of this service, which needs its name for previews', own || part;
    end if;
    execute format('drop schema %I cascade', own || part);
  end loop;
end $$;
comment on function drop_preview_tables() is 'Before a migration, which may change what they follow.';

create function make_preview_tables() returns void language plpgsql as $$
declare
  own constant text := current_schema();
  rows constant text[] := array['organizations', 'customer_numbers', 'customers', 'subscriptions',
    'invoice_subscriptions', 'coupons', 'applied_coupons', 'credit_notes', 'wallets', 'wallet_transactions',
    'adjusted_fees'];
  fees constant text[] := array['fees', 'fee_applied_taxes'];
  computed constant text[] := array['fees', 'invoice_applied_taxes', 'credits'];
  schema_name text;
  table_name text;
begin
  perform drop_preview_tables();
  foreach schema_name in array array['_preview_1', '_preview_2', '_preview_fees_1', '_preview_fees_2'] loop
    execute format('create schema %I', own || schema_name);
    execute format('comment on schema %I is %L', own || schema_name, 'Tables of previews.');
    foreach table_name in array case when schema_name like '%fees%' then fees else rows end loop
      execute format('create unlogged table %I.%I (like %I.%I including all)', own || schema_name, table_name, own,
        table_name);
    end loop;
  end loop;
  execute format('create schema %I', own || '_preview_draft');
  execute format('comment on schema %I is %L', own || '_preview_draft', 'Tables of previews.');
  foreach table_name in array computed loop
    execute format($view$create view %I.%I as select * from %I.%I where invoice_id is distinct from
      nullif(current_setting('meterstone.previewed_draft', true), '')::uuid$view$, own || '_preview_draft', table_name,
      own, table_name);
  end loop;
end $$;
comment on function make_preview_tables() is
  'Makes the tables that previews look at first: `preview_<n>` for copies, `preview_draft` without one computation, '
  '`preview_fees_<n>` for the fees of another. After each migration, so that they have the columns of the stored ones.';
