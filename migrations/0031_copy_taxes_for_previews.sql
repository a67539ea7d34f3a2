-- Why: a preview of other attributes of a customer who is taxed by the EU's rules changed the customer's taxes and the
-- question to the VAT register, and so locked their rows; now it changes copies. And a migration dropped the tables of
-- previews at its beginning, so that previews were refused for as long as it ran; now only the views, which would
-- forbid it to change a column, and the tables at its end.
-- Locks: the tables of previews, for as long as making some tables takes.

create function drop_preview_views() returns void language plpgsql as $$
declare
  own constant text := current_schema() || '_preview_draft';
begin
  if to_regnamespace(quote_ident(own)) is null then return; end if;
  if obj_description(to_regnamespace(quote_ident(own)), 'pg_namespace') is distinct from 'Tables of previews.' then
    raise exception 'schema % is not of this service, which needs its name for previews', own;
  end if;
  execute format('drop schema %I cascade', own);
end $$;
comment on function drop_preview_views() is 'Before a migration, which may change columns that they show.';

create or replace function make_preview_tables() returns void language plpgsql as $$
declare
  own constant text := current_schema();
  rows constant text[] := array['organizations', 'customer_numbers', 'customers', 'subscriptions',
    'invoice_subscriptions', 'coupons', 'applied_coupons', 'credit_notes', 'wallets', 'wallet_transactions',
    'adjusted_fees', 'taxes', 'customer_taxes', 'vies_checks'];
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
