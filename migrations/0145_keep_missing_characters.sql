-- Why: a document says which characters of it no font has, so that its sender knows before its reader does.
-- Locks: the new column has a constant default, so it is added in an instant; documents drawn before say nothing.
alter table documents add column missing_characters text not null default '';
