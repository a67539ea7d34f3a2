-- Why: a run leaves a connection whose provider gives no answer, goes on with the others, and comes back to it. What
--   the provider had listed before is kept meanwhile, beside what the others list.
-- Locks: provider_objects_seen, which holds rows of runs under way only.

alter table provider_objects_seen add column connection_id uuid;
comment on column provider_objects_seen.connection_id is 'The connection by which the provider has listed it.';

update provider_objects_seen seen set connection_id = (run.cursor ->> 'connection_id')::uuid
from provider_reconciliations run
where run.id = seen.run_id and run.cursor ->> 'connection_id' <> '';

delete from provider_objects_seen where connection_id is null;
alter table provider_objects_seen alter column connection_id set not null;

alter table provider_objects_seen drop constraint provider_objects_seen_pkey;
alter table provider_objects_seen add primary key (run_id, connection_id, object_id);

comment on table provider_objects_seen is
  'Objects that are ours and that providers have listed in a run; those of a connection go when it is compared.';
