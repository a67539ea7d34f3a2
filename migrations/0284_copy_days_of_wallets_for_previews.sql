-- Why: a preview that takes credits of a wallet wrote the wallet's day, and so locked a row that others need; now it
-- writes a copy.
-- Locks: none; the tables of previews are made anew after each migration.

create or replace function make_preview_tables() returns void language plpgsql as $$
declare
  own constant text := current_schema();
  rows constant text[] := array['organizations', 'customer_numbers', 'customers', 'subscriptions',
    'invoice_subscriptions', 'coupons', 'applied_coupons', 'credit_notes', 'wallets', 'wallet_transactions',
    'wallet_days', 'adjusted_fees', 'taxes', 'customer_taxes', 'vies_checks'];
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
