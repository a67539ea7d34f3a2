-- Why: calls that waited for a price are rated once the book has one (price-book.md#healing). What was looked at with
--   which version is noted, so that nothing is read again while the book lacks the price.
-- Locks: ai_unpriced_models and event_corrections for an instant; the wider check is not proved on the rows there are,
--   which the narrower one held.

alter table ai_unpriced_models add column looked_book text;
comment on column ai_unpriced_models.looked_book is
  'versions of the book with which its calls were last looked at; null: some came since';
comment on column ai_unpriced.book is 'versions of the book with which it was last looked at';

alter table event_corrections drop constraint event_corrections_kind_check;
alter table event_corrections add constraint event_corrections_kind_check
  check (kind in ('amend', 'retract', 'retract_range', 'late_events', 'price_healing', 'price_rerating')) not valid;
