-- Why: a correction finds in which windows its event was counted, those of the hold that it settled or that of its own
--   timestamp; and entries of the ledger get the house's ids, which are in the order of their making (budgets.md#holds,
--   budgets.md#storage). Nothing stays held in a window whose budget is deleted (budgets.md#life-of-a-window). The
--   function is otherwise that of 0131, which says what its arguments are; entries of steps and resets name their ids,
--   and those of a worker that knows none yet get random ones.
-- Locks: budget_holds, for a moment and for the rows of settlements by events.

alter table budget_holds add column counts_event boolean not null default false;
comment on column budget_holds.counts_event is
  'whether its settlement stored the event and counted it; else the event had come before, and counted by its own time';
update budget_holds hold set counts_event = true
where event_transaction_id is not null and exists (
  select from budget_entries entry
  where entry.organization_id = hold.organization_id and entry.ref = hold.id::text and entry.source = 'settlement');

create or replace function decide_budgets(organization uuid, used_version bigint, windows jsonb, holds jsonb,
  steps jsonb)
returns jsonb language plpgsql volatile set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_variable
declare
  present timestamptz;
  r record;
  step jsonb;
  each jsonb;
  part jsonb;
  place integer;
  hold integer;
  i integer;
  amount numeric;
  room numeric;
  wanted numeric;
  outcomes jsonb := '[]';
  figures jsonb;
  exceeded jsonb;
  reasons jsonb;
  notices jsonb := '[]';
  step_id uuid;
  overrun numeric;
  is_late boolean;
  is_partial boolean;
  n_windows integer := jsonb_array_length(windows);
  n_holds integer := jsonb_array_length(holds);
  ids uuid[] := '{}';
  -- windows of deleted budgets
  dead uuid[] := '{}';
  w_there boolean[] := array_fill(false, array[n_windows]);
  w_limit numeric[] := array_fill(0::numeric, array[n_windows]);
  w_topped numeric[] := array_fill(0::numeric, array[n_windows]);
  w_spent numeric[] := array_fill(0::numeric, array[n_windows]);
  w_held numeric[] := array_fill(0::numeric, array[n_windows]);
  w_no bigint[] := array_fill(0::bigint, array[n_windows]);
  w_alerted integer[] := array_fill(0, array[n_windows]);
  w_state text[] := array_fill('open'::text, array[n_windows]);
  w_told boolean[] := array_fill(false, array[n_windows]);
  w_hard boolean[] := array_fill(false, array[n_windows]);
  w_ends timestamptz[] := array_fill(null::timestamptz, array[n_windows]);
  keys text[] := '{}';
  h_id uuid[] := array_fill(null::uuid, array[n_holds]);
  h_status text[] := array_fill(null::text, array[n_holds]);
  h_ends timestamptz[] := array_fill(null::timestamptz, array[n_holds]);
  h_asked text[] := array_fill(null::text, array[n_holds]);
  h_used text[] := array_fill(null::text, array[n_holds]);
  h_event text[] := array_fill(null::text, array[n_holds]);
  h_late boolean[] := array_fill(false, array[n_holds]);
  h_counts boolean[] := array_fill(false, array[n_holds]);
  h_new boolean[] := array_fill(false, array[n_holds]);
  h_changed boolean[] := array_fill(false, array[n_holds]);
  h_subscription text[] := array_fill(null::text, array[n_holds]);
  h_first integer[] := array_fill(1, array[n_holds]);
  h_last integer[] := array_fill(0, array[n_holds]);
  -- parts of holds, those of one hold side by side
  p_hold integer[] := '{}';
  p_window integer[] := '{}';
  p_held numeric[] := '{}';
  p_settled numeric[] := '{}';
  p_open boolean[] := '{}';
  p_changed boolean[] := '{}';
  n_parts integer := 0;
  -- entries to write; ids come with the steps, since the house's ids hold their time
  e_id uuid[] := '{}';
  e_window uuid[] := '{}';
  e_amount numeric[] := '{}';
  e_source text[] := '{}';
  e_ref text[] := '{}';
  e_events integer[] := '{}';
begin
  if hold_shapes_version(organization) <> used_version then return '{"stale": true}'; end if;
  for place in 1..n_windows loop
    each := windows -> (place - 1);
    ids[place] := (each ->> 'id')::uuid;
    if each ->> 'b' is null then dead := dead || ids[place]; end if;
    w_limit[place] := (each ->> 'l')::numeric;
    w_hard[place] := (each ->> 'h')::boolean;
    w_ends[place] := (each ->> 'e')::timestamptz;
  end loop;
  for hold in 1..n_holds loop
    keys[hold] := holds ->> (hold - 1);
  end loop;

  -- A sandbox with a test clock lives at its instant; an advance keeps decisions out by its own lock.
  insert into budget_windows (id, organization_id, budget_id, group_key, group_values, starts_at, ends_at, created_at)
  select (given ->> 'id')::uuid, organization, (given ->> 'b')::uuid, decode(given ->> 'k', 'hex'), given -> 'g',
    (given ->> 's')::timestamptz, (given ->> 'e')::timestamptz,
    coalesce((select frozen_time from test_clocks where organization_id = organization), clock_timestamp())
  from jsonb_array_elements(windows) given
  where (given ->> 'm')::boolean and not exists (select from budget_windows w where w.id = (given ->> 'id')::uuid)
  order by (given ->> 'id')::uuid
  on conflict do nothing;
  -- Locked and read by two statements: one alone misses what was committed during its wait.
  perform from budget_windows w where w.organization_id = organization and w.id = any (ids)
  order by w.id for no key update;
  -- Read once: in a condition it would be called for every r.
  present := coalesce((select frozen_time from test_clocks where organization_id = organization), clock_timestamp());

  for r in
    with folded as (
      update budget_entries entry set folded_at = present
      where entry.window_id = any (ids) and entry.folded_at is null and entry.organization_id = organization
      returning entry.window_id, entry.amount
    ), summed as (
      select window_id, sum(folded.amount) as amount from folded group by window_id
    ), ended as (
      update budget_hold_parts stored set is_open = false
      where stored.window_id = any (ids) and stored.is_open and stored.organization_id = organization
        and (stored.expires_at <= present or stored.window_id = any (dead))
      returning stored.window_id, stored.held
    ), freed as (
      select window_id, sum(ended.held) as held from ended group by window_id
    )
    select w.id, w.topped_up, w.spent + coalesce(summed.amount, 0) as spent, w.held - coalesce(freed.held, 0) as held,
      w.decision_no, w.alerted_percent, w.state, w.has_told_overrun
    from budget_windows w
    left join summed on summed.window_id = w.id
    left join freed on freed.window_id = w.id
    where w.organization_id = organization and w.id = any (ids)
  loop
    place := array_position(ids, r.id);
    w_there[place] := true;
    w_topped[place] := r.topped_up;
    w_limit[place] := w_limit[place] + r.topped_up;
    w_spent[place] := r.spent;
    w_held[place] := r.held;
    w_no[place] := r.decision_no;
    w_alerted[place] := r.alerted_percent;
    w_state[place] := r.state;
    w_told[place] := r.has_told_overrun;
  end loop;

  for r in
    select h.* from budget_holds h where h.organization_id = organization and h.hold_key = any (keys)
    order by h.id for update
  loop
    hold := array_position(keys, r.hold_key);
    h_id[hold] := r.id;
    h_ends[hold] := r.expires_at;
    h_status[hold] := case when r.status = 'open' and r.expires_at <= present then 'expired' else r.status end;
    h_asked[hold] := encode(r.question_digest, 'hex');
    h_used[hold] := encode(r.settlement_digest, 'hex');
    h_event[hold] := r.event_transaction_id;
    h_late[hold] := r.is_late;
    h_counts[hold] := r.counts_event;
  end loop;
  for r in
    select array_position(h_id, stored.hold_id) as hold, array_position(ids, stored.window_id) as place, stored.held,
      stored.settled, stored.is_open
    from budget_hold_parts stored
    where stored.organization_id = organization and stored.hold_id = any (h_id)
    order by 1, stored.window_id
  loop
    -- The hold was made after its windows were looked up: it is prepared again, and nothing of this is kept.
    if r.place is null then raise exception 'windows of a hold are missing' using errcode = 'BU001'; end if;
    n_parts := n_parts + 1;
    p_hold[n_parts] := r.hold;
    p_window[n_parts] := r.place;
    p_held[n_parts] := r.held;
    p_settled[n_parts] := r.settled;
    p_open[n_parts] := r.is_open;
    p_changed[n_parts] := false;
    if h_last[r.hold] = 0 then h_first[r.hold] := n_parts; end if;
    h_last[r.hold] := n_parts;
  end loop;

  for step in select value from jsonb_array_elements(steps) loop
    hold := (step ->> 'h')::integer + 1;
    if step ->> 's' = 'settle' then
      if h_id[hold] is null then
        outcomes := outcomes || jsonb_build_object('o', 'unknown');
        continue;
      end if;
      if h_status[hold] = 'settled' then
        outcomes := outcomes || jsonb_build_object('o',
          case when h_used[hold] = step ->> 'd' then 'repeated' else 'closed' end);
        continue;
      end if;
      if h_id[hold] is distinct from (step ->> 'i')::uuid then
        raise exception 'a settlement was prepared for another hold' using errcode = 'BU001';
      end if;
      is_late := h_status[hold] <> 'open';
      for i in h_first[hold]..h_last[hold] loop
        if p_open[i] then
          w_held[p_window[i]] := w_held[p_window[i]] - p_held[i];
          p_open[i] := false;
          p_changed[i] := true;
        end if;
      end loop;
      overrun := 0;
      for part in select value from jsonb_array_elements(step -> 'e') loop
        place := (part ->> 0)::integer + 1;
        amount := (part ->> 1)::numeric;
        for i in h_first[hold]..h_last[hold] loop
          if p_window[i] = place then
            amount := coalesce(amount, p_held[i]);
            p_settled[i] := amount;
            p_changed[i] := true;
          end if;
        end loop;
        amount := coalesce(amount, 0);
        w_spent[place] := w_spent[place] + amount;
        overrun := greatest(overrun, least(greatest(amount, 0), w_spent[place] - w_limit[place]));
        e_id := e_id || coalesce((part ->> 3)::uuid, gen_random_uuid());
        e_window := e_window || ids[place];
        e_amount := e_amount || amount;
        e_source := e_source || (part ->> 2);
        e_ref := e_ref || h_id[hold]::text;
        e_events := e_events || (step ->> 'n')::integer;
      end loop;
      h_status[hold] := 'settled';
      h_used[hold] := step ->> 'd';
      h_event[hold] := step ->> 't';
      h_late[hold] := is_late;
      h_counts[hold] := (step ->> 'n')::integer > 0;
      h_changed[hold] := true;
      outcomes := outcomes || jsonb_build_object('o', 'settled', 'late', is_late, 'overrun', overrun::text);

    elsif step ->> 's' = 'release' then
      if h_id[hold] is null or h_status[hold] <> 'open' then
        outcomes := outcomes
          || jsonb_build_object('o', case when h_id[hold] is null then 'unknown' else 'closed' end);
        continue;
      end if;
      for i in h_first[hold]..h_last[hold] loop
        if p_open[i] then
          w_held[p_window[i]] := w_held[p_window[i]] - p_held[i];
          p_open[i] := false;
          p_changed[i] := true;
        end if;
      end loop;
      h_status[hold] := 'released';
      h_changed[hold] := true;
      outcomes := outcomes || jsonb_build_object('o', 'released');

    elsif step ->> 's' = 'change' then
      if h_id[hold] is null or h_status[hold] <> 'open' then
        outcomes := outcomes
          || jsonb_build_object('o', case when h_id[hold] is null then 'unknown' else 'closed' end);
        continue;
      end if;
      exceeded := '[]';
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        for i in h_first[hold]..h_last[hold] loop
          wanted := (part ->> 1)::numeric - p_held[i];
          if p_window[i] = place and w_hard[place] and wanted > 0
            and wanted > w_limit[place] - w_spent[place] - w_held[place] then
            exceeded := exceeded || to_jsonb(place - 1);
          end if;
        end loop;
      end loop;
      if exceeded <> '[]' then
        outcomes := outcomes || jsonb_build_object('o', 'full', 'exceeded', exceeded);
        continue;
      end if;
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        for i in h_first[hold]..h_last[hold] loop
          if p_window[i] = place then
            w_held[place] := w_held[place] + (part ->> 1)::numeric - p_held[i];
            p_held[i] := (part ->> 1)::numeric;
          end if;
        end loop;
      end loop;
      for i in h_first[hold]..h_last[hold] loop
        p_changed[i] := true;
      end loop;
      if step ->> 'x' is not null then h_ends[hold] := present + make_interval(secs => (step ->> 'x')::integer); end if;
      h_changed[hold] := true;
      outcomes := outcomes || jsonb_build_object('o', 'changed');

    elsif step ->> 's' = 'reset' then
      place := (step ->> 'w')::integer + 1;
      e_id := e_id || coalesce((step ->> 'id')::uuid, gen_random_uuid());
      e_window := e_window || ids[place];
      e_amount := e_amount || -w_spent[place];
      e_source := e_source || 'reset'::text;
      e_ref := e_ref || null::text;
      e_events := e_events || 0;
      w_spent[place] := 0;
      outcomes := outcomes || jsonb_build_object('o', 'reset');

    else
      if h_id[hold] is not null then
        figures := '[]';
        for i in h_first[hold]..h_last[hold] loop
          place := p_window[i];
          figures := figures || jsonb_build_array(jsonb_build_array(place - 1, p_held[i]::text, w_limit[place]::text,
            w_spent[place]::text, w_held[place]::text, w_no[place]));
        end loop;
        if h_asked[hold] <> step ->> 'd' then
          outcomes := outcomes || jsonb_build_object('o', 'conflict');
        elsif h_status[hold] <> 'open' then
          outcomes := outcomes || jsonb_build_object('o', 'refused', 'reasons', jsonb_build_array('hold_closed'),
            'exceeded', '[]'::jsonb, 'figures', figures, 'id', h_id[hold], 'replayed', true);
        else
          outcomes := outcomes || jsonb_build_object('o', 'allowed', 'replayed', true, 'figures', figures,
            'id', h_id[hold], 'ends', h_ends[hold]);
        end if;
        continue;
      end if;
      reasons := step -> 'no';
      is_partial := (step ->> 'a')::boolean;
      exceeded := '[]';
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        w_no[place] := w_no[place] + 1;
        wanted := (part ->> 1)::numeric;
        room := w_limit[place] - w_spent[place] - w_held[place];
        if not w_there[place] then
          reasons := case when reasons ? 'too_many_windows' then reasons else reasons || '"too_many_windows"' end;
        elsif w_hard[place] and wanted > room and (not is_partial or room <= 0) then
          exceeded := exceeded || to_jsonb(place - 1);
        end if;
      end loop;
      if reasons <> '[]' then
        exceeded := '[]';
      elsif exceeded <> '[]' then
        reasons := '["budget_exceeded"]';
      else
        h_first[hold] := n_parts + 1;
        for part in select value from jsonb_array_elements(step -> 'p') loop
          place := (part ->> 0)::integer + 1;
          wanted := (part ->> 1)::numeric;
          if is_partial then
            for each in select value from jsonb_array_elements(step -> 'p') loop
              i := (each ->> 0)::integer + 1;
              if each ->> 2 = part ->> 2 and w_hard[i] then
                wanted := least(wanted, w_limit[i] - w_spent[i] - w_held[i]);
              end if;
            end loop;
          end if;
          n_parts := n_parts + 1;
          p_hold[n_parts] := hold;
          p_window[n_parts] := place;
          p_held[n_parts] := wanted;
          p_settled[n_parts] := null;
          p_open[n_parts] := true;
          p_changed[n_parts] := false;
        end loop;
        h_last[hold] := n_parts;
        for i in h_first[hold]..h_last[hold] loop
          w_held[p_window[i]] := w_held[p_window[i]] + p_held[i];
        end loop;
        h_id[hold] := (step ->> 'id')::uuid;
        h_status[hold] := 'open';
        h_ends[hold] := present + make_interval(secs => (step ->> 'x')::integer);
        h_asked[hold] := step ->> 'd';
        h_subscription[hold] := step ->> 'u';
        h_new[hold] := true;
      end if;
      figures := '[]';
      i := h_first[hold];
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        amount := case when h_new[hold] then p_held[i] else (part ->> 1)::numeric end;
        figures := figures || jsonb_build_array(jsonb_build_array(place - 1, amount::text, w_limit[place]::text,
          w_spent[place]::text, w_held[place]::text, w_no[place]));
        i := i + 1;
      end loop;
      if h_new[hold] and h_asked[hold] = step ->> 'd' and reasons = '[]' then
        outcomes := outcomes || jsonb_build_object('o', 'allowed', 'replayed', false, 'figures', figures,
          'id', h_id[hold], 'ends', h_ends[hold]);
      else
        outcomes := outcomes || jsonb_build_object('o', 'refused', 'reasons', reasons, 'exceeded', exceeded,
          'figures', figures);
      end if;
    end if;
  end loop;

  for place in 1..n_windows loop
    each := windows -> (place - 1);
    continue when not w_there[place] or each ->> 'b' is null; -- of a deleted budget
    figures := jsonb_build_object('window_id', ids[place], 'budget_id', each ->> 'b', 'group', each -> 'g',
      'from', each ->> 's', 'to', each ->> 'e', 'limit', w_limit[place]::text, 'spent', w_spent[place]::text,
      'held', w_held[place]::text);
    if w_ends[place] is null or w_ends[place] > present then
      for i in select value::integer from jsonb_array_elements_text(each -> 'p') order by 1 loop
        if i > w_alerted[place] and w_spent[place] * 100 >= w_limit[place] * i then
          notices := notices || (figures || jsonb_build_object('type', 'threshold_reached', 'percent', i));
          w_alerted[place] := i;
        end if;
      end loop;
      if (w_spent[place] >= w_limit[place]) <> (w_state[place] <> 'open') then
        if w_hard[place] or w_state[place] = 'blocked' then
          notices := notices || (figures
            || jsonb_build_object('type', case w_state[place] when 'open' then 'blocked' else 'unblocked' end));
        end if;
      end if;
      w_state[place] := case when w_spent[place] < w_limit[place] then 'open' when w_hard[place] then 'blocked'
        else 'over' end;
      if w_spent[place] > w_limit[place] and not w_told[place] then
        notices := notices || (figures || jsonb_build_object('type', 'overrun'));
      end if;
      w_told[place] := w_spent[place] > w_limit[place];
    end if;
  end loop;

  update budget_windows w set spent = changed.spent, held = changed.held, decision_no = changed.no,
    alerted_percent = changed.alerted, state = changed.state, has_told_overrun = changed.told
  from unnest(ids, w_spent, w_held, w_no, w_alerted, w_state, w_told)
    changed (id, spent, held, no, alerted, state, told)
  where w.id = changed.id and w.organization_id = organization;
  if true = any (h_new) then
    insert into budget_holds (id, organization_id, hold_key, status, expires_at, question_digest, settlement_digest,
      event_transaction_id, external_subscription_id, is_late, counts_event, created_at, closed_at)
    select made.id, organization, made.key, made.status, made.ends, decode(made.asked, 'hex'), decode(made.used, 'hex'),
      made.event, made.subscription, made.late, made.counts, present, case when made.status <> 'open' then present end
    from unnest(h_id, keys, h_status, h_ends, h_asked, h_used, h_event, h_subscription, h_late, h_counts, h_new)
      made (id, key, status, ends, asked, used, event, subscription, late, counts, is_new)
    where made.is_new;
    insert into budget_hold_parts (hold_id, window_id, organization_id, held, settled, expires_at, is_open)
    select h_id[made.hold], ids[made.place], organization, made.held, made.settled, h_ends[made.hold], made.is_open
    from unnest(p_hold, p_window, p_held, p_settled, p_open) made (hold, place, held, settled, is_open)
    where h_new[made.hold];
  end if;
  if true = any (h_changed) then
    update budget_holds h set status = changed.status, expires_at = changed.ends,
      settlement_digest = decode(changed.used, 'hex'), event_transaction_id = changed.event, is_late = changed.late,
      counts_event = changed.counts, closed_at = case when changed.status <> 'open' then present end
    from unnest(h_id, h_status, h_ends, h_used, h_event, h_late, h_counts, h_changed, h_new)
      changed (id, status, ends, used, event, late, counts, is_changed, is_new)
    where h.id = changed.id and h.organization_id = organization and changed.is_changed and not changed.is_new;
    update budget_hold_parts stored set held = changed.held, settled = changed.settled, is_open = changed.is_open,
      expires_at = h_ends[changed.hold]
    from unnest(p_hold, p_window, p_held, p_settled, p_open, p_changed)
      changed (hold, place, held, settled, is_open, is_changed)
    where stored.hold_id = h_id[changed.hold] and stored.window_id = ids[changed.place]
      and stored.organization_id = organization and changed.is_changed and not h_new[changed.hold];
  end if;
  if cardinality(e_window) > 0 then
    insert into budget_entries (id, organization_id, window_id, amount, events, source, ref, created_at, folded_at)
    select made.id, organization, made.window_id, made.amount, made.events, made.source, made.ref, present, present
    from unnest(e_id, e_window, e_amount, e_events, e_source, e_ref) made (id, window_id, amount, events, source, ref);
  end if;
  if notices <> '[]' then
    step_id := gen_random_uuid();
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
    values (step_id, organization, 'announce-budgets', jsonb_build_object('notices', notices), clock_timestamp(),
      clock_timestamp());
  end if;
  figures := '[]';
  for place in 1..n_windows loop
    figures := figures || jsonb_build_array(jsonb_build_array(w_there[place], w_limit[place]::text,
      w_spent[place]::text, w_held[place]::text, w_state[place], w_no[place]));
  end loop;
  return jsonb_build_object('now', present, 'outcomes', outcomes, 'windows', figures, 'step', step_id);
end
$$;
comment on function decide_budgets is
  'Settles, releases, changes and makes holds in their order, under the locks of their windows.';
