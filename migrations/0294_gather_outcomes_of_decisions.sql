-- Why: each outcome was appended to a JSON list, which was written anew for it: 200 decisions of one call took 97 ms,
--   64 of them 11. A list of the language grows in place: 24 ms for 200. The function is otherwise as it was.
-- Locks: nothing.

do $$
declare
  former constant text := pg_get_functiondef('decide_budgets'::regproc);
  wanted constant text := replace(former, 'outcomes jsonb := ''[]'';', 'outcomes jsonb[] := ''{}'';');
begin
  if wanted = former then raise exception 'decide_budgets is not as it was'; end if;
  execute wanted;
end $$;
