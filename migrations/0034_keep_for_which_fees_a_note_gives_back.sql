-- Why: a fee that took over fees of progressive invoices gives them back at most once, but a second correction took no
-- notice of what the first one had given back of them: where two groups took over one fee, what was another group's was
-- given back. Items that were stored before name no fees, and are limited by what is left of the fee they credit.
-- Locks: credit_note_items for an instant: both columns are null.

alter table credit_note_items
  add column given_for_fee_ids uuid[],
  add column given_part_cents bigint;
comment on column credit_note_items.given_for_fee_ids is
  'The fee whose usage fell, and those of progressive invoices by which it had taken over the credited one; empty '
  'where that is the one. Null where it is not known, as of notes by hand.';
comment on column credit_note_items.given_part_cents is 'How much of the usage is given back.';
