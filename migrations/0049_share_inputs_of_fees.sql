-- no transaction
-- Why: what a fee was computed from took 1.9 KB, most of it the same for all fees of a subscription on an invoice:
-- periods, terms, taxes, and for many groups of one charge its price. The first such fee keeps it for the others.
-- What was stored before stays as it is: whole, and shared with none.
-- Locks: fee_inputs for an instant, twice; it is read once beside everything else. Each statement can be run again.

alter table fee_inputs
  add column if not exists shared_with uuid,
  add column if not exists shared_inputs jsonb;
comment on column fee_inputs.shared_with is
  'The fee that keeps what this one has in common with others, itself included. Null if inputs are whole.';
comment on column fee_inputs.shared_inputs is
  'Fields by section that every fee with this one as shared_with has besides its own inputs.';

drop index concurrently if exists fee_inputs_shared_with;
create index concurrently fee_inputs_shared_with on fee_inputs (shared_with) where shared_with is not null;
alter table fee_inputs
  drop constraint if exists fee_inputs_shared_with_fkey,
  drop constraint if exists fee_inputs_shared_inputs_check,
  add constraint fee_inputs_shared_with_fkey foreign key (shared_with) references fee_inputs (fee_id) deferrable
    not valid,
  add constraint fee_inputs_shared_inputs_check
    check ((shared_inputs is not null) = (shared_with is not null and shared_with = fee_id)) not valid;
alter table fee_inputs validate constraint fee_inputs_shared_with_fkey;
alter table fee_inputs validate constraint fee_inputs_shared_inputs_check;
